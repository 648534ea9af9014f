"""The sessions of a run, as tables for all renderers, and as lines of the console."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from reporter import statements
from reporter.number_text import NOTHING, counted, figure, fixed, whole
from reporter.render.console_page import block, sentence, tables
from reporter.render.table import Table, headed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import RenderableType

    from reporter.values.session_figures import Sessions

_FIGURES: Final = {
    "session_ms": "duration (ms)",
    "first_ttft_ms": "TTFT of the first turn (ms)",
    "ttfat_ms": "time to the last answer (ms)",
    "join_wait_ms": "waiting for joins (ms)",
    "critical_ms": "requests on the critical path (ms)",
    "tool_ms": "tool time (ms)",
    "delay_ms": "delays (ms)",
    "turns": "turns",
    "streams": "agents",
    "input_tokens": "input tokens",
    "output_tokens": "output tokens",
}
_STATISTICS: Final = ("mean", "p50", "p95", "p99", "max")


def figures(sessions: Sessions) -> Table:
    """The distributions, without those that are 0 throughout."""
    rows = tuple(
        (label, *(figure(getattr(statistics, name)) for name in _STATISTICS))
        for key, label in _FIGURES.items()
        if (statistics := sessions.figures.get(key)) is not None and statistics.max
    )
    return Table(headed("Per session", *_STATISTICS), rows, sql=statements.sessions("sessions"))


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
    return Table(headed(*titles), rows, sql=statements.sessions("session_depths"))


def lines(sessions: Sessions) -> Iterator[str]:
    """Ends, jobs, hit rates and fidelity, a line each."""
    ends = (f"{whole(count)} {ending}" for ending, count in sessions.endings.items())
    left = f"; {counted(sessions.never_asked, 'turn')} never asked" if sessions.never_asked else ""
    yield f"{counted(sessions.count, 'session')}: {', '.join(ends)}{left}"
    jobs = {
        "per user": sessions.jobs_per_hour_per_user,
        "in all": sessions.jobs_per_hour,
        "per GPU": sessions.jobs_per_hour_per_gpu,
    }
    if shown := [f"{figure(value)} {whose}" for whose, value in jobs.items() if value is not None]:
        yield f"jobs per hour: {', '.join(shown)}"
    rates = {
        "measured": sessions.measured_hit_rate,
        "of what was eligible": sessions.eligible_hit_rate,
        "theoretical": sessions.theoretical_hit_rate,
    }
    if shown := [f"{fixed(100 * rate, 1)} % {name}" for name, rate in rates.items() if rate is not None]:
        yield f"prefix cache hits: {', '.join(shown)}"
    ratios = {"prompt tokens": sessions.input_ratio, "output tokens": sessions.output_ratio}
    shown = [
        f"{fixed(100 * ratio, 1)} % of the {name}" for name, ratio in ratios.items() if ratio is not None
    ]
    if sessions.delay_error_p99_ms is not None:
        shown.append(f"delays within {figure(sessions.delay_error_p99_ms)} ms (p99)")
    if sessions.overtaken_turns is not None:
        shown.append(f"{counted(sessions.overtaken_turns, 'turn')} in another order")
    if shown:
        yield f"compared with the record: {', '.join(shown)}"


def section(sessions: Sessions, *, width: int) -> Iterator[RenderableType]:
    """The sessions on the console."""
    yield block("Sessions", *(sentence(line) for line in lines(sessions)))
    yield from tables(*(table for table in (figures(sessions), depths(sessions)) if table.rows), width=width)
