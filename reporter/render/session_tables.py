"""The sessions of a run, as tables for all renderers, and as lines of the console."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from reporter import statements
from reporter.cache_hits import in_percent
from reporter.number_text import NOTHING, counted, figure, seconds, whole
from reporter.render.console_page import block, sentence, tables
from reporter.render.table import Table, headed

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rich.console import RenderableType

    from reporter.values.session_figures import Sessions

_S: Final = 1000
_FIGURES: Final = {
    "session_ms": ("duration (s)", _S),
    "ttfat_ms": ("time to the last answer (s)", _S),
    "critical_ms": ("requests on the critical path (s)", _S),
    "join_wait_ms": ("waiting for joins (s)", _S),
    "delay_ms": ("delays (s)", _S),
    "tool_ms": ("of these, tools (s)", _S),
    "first_ttft_ms": ("TTFT of the first turn (ms)", 1),
    "later_ttft_ms": ("mean TTFT of the later turns (ms)", 1),
    "turns": ("turns", 1),
    "streams": ("agents", 1),
    "input_tokens": ("input tokens", 1),
    "output_tokens": ("output tokens", 1),
}
"""The label of each figure, and how many of the report's units are one of the table's."""
_STATISTICS: Final = ("mean", "p50", "p95", "p99", "max")


def figures(sessions: Sessions) -> Table:
    """The distributions, without those that are 0 throughout."""
    rows = tuple(
        (label, *(figure(getattr(statistics, name) / unit) for name in _STATISTICS))
        for key, (label, unit) in _FIGURES.items()
        if (statistics := sessions.figures.get(key)) is not None and statistics.max
    )
    return Table(headed("Per session", *_STATISTICS), rows, sql=statements.figures("sessions"))


def depths(sessions: Sessions) -> Table:
    """The requests by the depth of their agent; without rows where all are the main agent's."""
    titles = ("Depth", "asked", "failed", "TTFT p50 (ms)", "TTFT p95 (ms)", "mean input tokens")
    rows = tuple(
        (
            *map(whole, (depth.depth, depth.count, depth.failed)),
            *(
                NOTHING if value is None else figure(value)
                for value in (depth.ttft_p50_ms, depth.ttft_p95_ms, depth.input_tokens_mean)
            ),
        )
        for depth in sessions.depths
        if len(sessions.depths) > 1
    )
    return Table(headed(*titles), rows, "By depth of agents", statements.figures("session_depths"))


def reuse(sessions: Sessions) -> Table:
    """The reuse of prefixes by turn; without rows where the server counts no cached tokens."""
    titles = ("Turn", "requests", "prompt tokens", "in the session", "cached", "reused")
    rows = tuple(
        (
            f"{row.from_turn}" if row.from_turn == row.to_turn else f"{row.from_turn} to {row.to_turn}",
            whole(row.count),
            *map(figure, (row.input_tokens_mean, row.reusable_tokens_mean, row.cached_tokens_mean)),
            NOTHING if row.reused_rate is None else in_percent(row.reused_rate),
        )
        for row in sessions.reuse
    )
    return Table(headed(*titles), rows, "Reuse of prefixes by turn", statements.figures("session_reuse"))


_FIDELITY: Final = {
    "input_tokens": "prompt tokens",
    "output_tokens": "output tokens",
    "delay_ms": "delay (ms)",
    "session_ms": "session (ms)",
}


def fidelity(sessions: Sessions) -> Table:
    """Recorded against realised figures; without rows where nothing was recorded."""
    titles = ("Mean", "count", "recorded", "realised", "ratio", "off by p99", "off by max")
    rows = tuple(
        (
            label,
            whole(row.count),
            *map(figure, (row.recorded_mean, row.realised_mean)),
            NOTHING if row.ratio is None else in_percent(row.ratio),
            *map(figure, (row.off_p99, row.off_max)),
        )
        for name, label in _FIDELITY.items()
        if (row := sessions.fidelity.get(name)) is not None
    )
    return Table(headed(*titles), rows, "Against the record", statements.figures("session_fidelity"))


def all_tables(sessions: Sessions) -> Iterator[Table]:
    """The tables that have rows."""
    for table in (figures(sessions), reuse(sessions), depths(sessions), fidelity(sessions)):
        if table.rows:
            yield table


def lines(sessions: Sessions) -> Iterator[str]:
    """Ends, durations, jobs and hit rates, a line each."""
    ends = (f"{whole(count)} {ending}" for ending, count in sessions.endings.items())
    left = f"; {counted(sessions.never_asked, 'turn')} never asked" if sessions.never_asked else ""
    yield f"{counted(sessions.count, 'session')}: {', '.join(ends)}{left}"
    if duration := sessions.figures.get("session_ms"):
        shown = (f"{name} {seconds(getattr(duration, name) / 1e3)}" for name in ("p50", "p95", "max"))
        yield f"duration: {', '.join(shown)}"
    jobs = {
        "per user": sessions.jobs_per_hour_per_user,
        "in all": sessions.jobs_per_hour,
        "per GPU": sessions.jobs_per_hour_per_gpu,
    }
    if rates := [f"{figure(value)} {whose}" for whose, value in jobs.items() if value is not None]:
        yield f"jobs per hour: {', '.join(rates)}"
    hits = {
        "of the prompt tokens": sessions.measured_hit_rate,
        "of what earlier turns had": sessions.reused_rate,
        "theoretical": sessions.theoretical_hit_rate,
    }
    if hit := [f"{in_percent(rate)} {name}" for name, rate in hits.items() if rate is not None]:
        yield f"prefix cache hits: {', '.join(hit)}"
    if sessions.overtaken_turns is not None:
        yield (
            f"order: {whole(sessions.overtaken_turns)} of {counted(sessions.asked, 'turn')} issued before "
            "one that began earlier in the record"
        )


def summary(sessions: Sessions) -> RenderableType:
    """The sessions in lines, for the head of the console's page."""
    return block("Sessions", *(sentence(line) for line in lines(sessions)))


def sections(sessions: Sessions, *, width: int) -> Iterator[Sequence[RenderableType]]:
    """The tables of the sessions, for the console."""
    for table in all_tables(sessions):
        yield tables(table, width=width)
