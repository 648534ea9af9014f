"""The episodes of a run, as tables for all renderers, and as lines of the console."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from reporter import statements
from reporter.number_text import NOTHING, counted, figure, whole
from reporter.render.console_page import block, sentence, tables
from reporter.render.table import Table, headed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import RenderableType

    from reporter.episodes import Episodes

_FIGURES: Final = {
    "turns": "turns",
    "tool_calls": "tool calls",
    "duration_ms": "duration (ms)",
    "setup_ms": "set-up (ms)",
    "wall_ms": "wall time (ms)",
    "model_ms": "model time (ms)",
    "tool_ms": "tool time (ms)",
    "user_ms": "user time (ms)",
    "own_ms": "own time (ms)",
    "finish_ms": "finish (ms)",
    "input_tokens": "input tokens",
    "output_tokens": "output tokens",
    "reward": "reward",
}
_ALWAYS: Final = frozenset({"turns", "wall_ms"})
_STATISTICS: Final = ("mean", "median", "p99", "min", "max")
_MOST_TURNS: Final = 20
_TOOLS_IN_LINE: Final = 5


def endings(episodes: Episodes) -> Table:
    """How episodes ended, and how many in each way."""
    rows = tuple((ending, whole(count)) for ending, count in episodes.endings.items())
    return Table(headed("Ending", "episodes"), rows, sql=statements.figures("episode_endings"))


def figures(episodes: Episodes) -> Table:
    """The distributions, without those that are 0 throughout."""
    rows = tuple(
        (label, *(figure(getattr(statistics, name)) for name in _STATISTICS))
        for key, label in _FIGURES.items()
        if (statistics := episodes.figures.get(key)) is not None and (statistics.max or key in _ALWAYS)
    )
    return Table(headed("Per episode", *_STATISTICS), rows, sql=statements.figures("episodes"))


def turns(episodes: Episodes) -> Table:
    """The first turns; without rows where all episodes have one."""
    titles = ("Turn", "asked", "failed", "TTFT p50 (ms)", "latency p50 (ms)", "mean input tokens")
    rows = tuple(
        (
            *map(whole, (turn.turn + 1, turn.count, turn.failed)),
            *(
                NOTHING if value is None else figure(value)
                for value in (turn.ttft_p50_ms, turn.latency_p50_ms, turn.input_tokens_mean)
            ),
        )
        for turn in episodes.turns[:_MOST_TURNS]
        if len(episodes.turns) > 1
    )
    return Table(headed(*titles), rows, sql=statements.figures("episode_turns"))


def tools(episodes: Episodes) -> Table:
    """The tools."""
    rows = tuple(
        (tool.name, whole(tool.count), whole(tool.failed), figure(tool.mean_ms), figure(tool.p99_ms))
        for tool in episodes.tools
    )
    titles = ("Tool", "calls", "failed", "mean time (ms)", "p99 time (ms)")
    return Table(headed(*titles), rows, sql=statements.figures("episode_tools"))


def shares(episodes: Episodes) -> list[str]:
    """How the wall time divides into that of the model, of tools, and of the agent itself."""
    return [
        f"{name} {figure(statistics.mean)} % of the wall time"
        for name, key in (
            ("model", "model_share_pct"),
            ("tools", "tool_share_pct"),
            ("agent", "own_share_pct"),
        )
        if (statistics := episodes.figures.get(key)) is not None
    ]


def section(episodes: Episodes, *, width: int) -> Iterator[RenderableType]:
    """The episodes on the console."""
    ends = [f"{whole(count)} {ending}" for ending, count in episodes.endings.items()]
    lines = [sentence(*times)] if (times := shares(episodes)) else []
    if episodes.tools:
        called = (f"{tool.name} {whole(tool.count)}" for tool in episodes.tools[:_TOOLS_IN_LINE])
        lines.append(sentence("tools: " + ", ".join(called)))
    yield block("Episodes", sentence(counted(episodes.count, "episode"), *ends), *lines)
    yield from tables(*(table for table in (figures(episodes), turns(episodes)) if table.rows), width=width)
