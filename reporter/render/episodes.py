"""The episodes of a run, as cells for all renderers, and as the tables of the console."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from reporter.number_text import NOTHING, counted, figure, whole
from reporter.render.page import Column, block, grid, sentence, text

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rich.console import RenderableType

    from reporter.episodes import Episodes
    from reporter.report import Report

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

FIGURE_TITLES: Final = ("Per episode", *_STATISTICS)
TURN_TITLES: Final = ("Turn", "asked", "failed", "TTFT p50 (ms)", "latency p50 (ms)", "mean input tokens")
TOOL_TITLES: Final = ("Tool", "calls", "failed", "mean time (ms)", "p99 time (ms)")


def section(report: Report, *, width: int) -> Sequence[RenderableType]:
    """The episodes; nothing where there are none."""
    return [] if report.episodes is None else list(_lines(report.episodes, width))


def ending_cells(episodes: Episodes) -> list[tuple[str, ...]]:
    """How episodes ended, and how many in each way."""
    return [(ending, whole(count)) for ending, count in episodes.endings.items()]


def figure_cells(episodes: Episodes) -> list[tuple[str, ...]]:
    """The distributions, under `FIGURE_TITLES`, without those that are 0 throughout."""
    return [
        (label, *(figure(getattr(statistics, name)) for name in _STATISTICS))
        for key, label in _FIGURES.items()
        if (statistics := episodes.figures.get(key)) is not None and (statistics.max or key in _ALWAYS)
    ]


def turn_cells(episodes: Episodes) -> list[tuple[str, ...]]:
    """The first turns, under `TURN_TITLES`; nothing where all episodes have one."""
    if len(episodes.turns) < 2:  # noqa: PLR2004 (one turn is the whole episode)
        return []
    return [
        (
            whole(turn.turn + 1),
            whole(turn.count),
            whole(turn.failed),
            *(
                NOTHING if value is None else figure(value)
                for value in (turn.ttft_p50_ms, turn.latency_p50_ms, turn.input_tokens_mean)
            ),
        )
        for turn in episodes.turns[:_MOST_TURNS]
    ]


def tool_cells(episodes: Episodes) -> list[tuple[str, ...]]:
    """The tools, under `TOOL_TITLES`."""
    return [
        (tool.name, whole(tool.count), whole(tool.failed), figure(tool.mean_ms), figure(tool.p99_ms))
        for tool in episodes.tools
    ]


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


def _lines(episodes: Episodes, width: int) -> Iterator[RenderableType]:
    endings = [f"{count} {ending}" for ending, count in ending_cells(episodes)]
    lines = [sentence(*times)] if (times := shares(episodes)) else []
    if episodes.tools:
        called = (f"{tool.name} {whole(tool.count)}" for tool in episodes.tools[:_TOOLS_IN_LINE])
        lines.append(sentence("tools: " + ", ".join(called)))
    yield block("Episodes", sentence(counted(episodes.count, "episode"), *endings), *lines)
    for titles, cells in (
        (FIGURE_TITLES, figure_cells(episodes)),
        (TURN_TITLES, turn_cells(episodes)),
    ):
        if cells:
            columns = [Column(titles[0], justify="left"), *map(Column, titles[1:])]
            yield grid(columns, [list(map(text, row)) for row in cells], width=width)
