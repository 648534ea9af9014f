"""The episodes of a run, for the console."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from reporter.render.figures import NOTHING, counted, figure, whole
from reporter.render.page import Column, block, grid, sentence, text

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rich.console import RenderableType

    from reporter.episodes import Episodes
    from reporter.report import Report

_FIGURES: Final = {
    "turns": "turns",
    "tool_calls": "tool calls",
    "wall_ms": "wall time (ms)",
    "model_ms": "model time (ms)",
    "tool_ms": "tool time (ms)",
    "user_ms": "user time (ms)",
    "input_tokens": "input tokens",
    "output_tokens": "output tokens",
    "reward": "reward",
}
_ALWAYS: Final = frozenset({"turns", "wall_ms"})
_STATISTICS: Final = ("mean", "median", "p99", "min", "max")


def section(report: Report, *, width: int) -> Sequence[RenderableType]:
    """The episodes; nothing where there are none."""
    return [] if report.episodes is None else list(_lines(report.episodes, width))


def _lines(episodes: Episodes, width: int) -> Iterator[RenderableType]:
    endings = [f"{whole(count)} {ending}" for ending, count in episodes.endings.items()]
    shares = [
        f"{name} {figure(statistics.mean)} % of the wall time"
        for name, key in (("model", "model_share_pct"), ("tools", "tool_share_pct"))
        if (statistics := episodes.figures.get(key)) is not None
    ]
    tools = [f"{tool.name} {whole(tool.count)}" for tool in episodes.tools[:5]]
    lines = [sentence(*shares)] if shares else []
    if tools:
        lines.append(sentence("tools: " + ", ".join(tools)))
    yield block("Episodes", sentence(counted(episodes.count, "episode"), *endings), *lines)
    rows = [
        [text(label), *(text(figure(getattr(statistics, name))) for name in _STATISTICS)]
        for key, label in _FIGURES.items()
        if (statistics := episodes.figures.get(key)) is not None and (statistics.max or key in _ALWAYS)
    ]
    if rows:
        columns = [Column("Per episode", justify="left"), *(Column(name) for name in _STATISTICS)]
        yield grid(columns, rows, width=width)
    if len(episodes.turns) > 1:
        yield grid(
            [
                Column("Turn", justify="left"),
                *map(Column, ("asked", "failed", "TTFT p50", "latency p50", "input")),
            ],
            [
                [
                    text(whole(turn.turn + 1)),
                    text(whole(turn.count)),
                    text(whole(turn.failed)),
                    *(
                        text(NOTHING if value is None else figure(value))
                        for value in (turn.ttft_p50_ms, turn.latency_p50_ms, turn.input_tokens_mean)
                    ),
                ]
                for turn in episodes.turns[:20]
            ],
            width=width,
        )
