"""The runs of a series as tables for the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from loadgen.cli.terminal.axes import NONE, axis_cells, axis_columns
from loadgen.sessions.series.run_notes import notes_of
from loadgen.sessions.series.run_rows import result, warnings_of
from reporter.render.console_page import draw, tables, text
from reporter.render.table import Column, Mark, Table, plain

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from rich.console import RenderableType

    from loadgen.sessions.series_outcome import PointOutcome
    from reporter.render.table import Cell, Tone
    from reporter.run_row import Figures

_EXACT: Final = 1000
"""A figure from this size on is shown without decimals."""


def table(outcomes: Sequence[PointOutcome], *, width: int, color: bool = False, compact: bool = False) -> str:
    """All points under one heading, then the scores if any, then notes."""
    from loadgen.cli.terminal.score_table import lines as score_lines

    axes = list(dict.fromkeys(name for outcome in outcomes for name in outcome.point.axes))
    if compact:
        return draw([_figures(outcomes, axes, width, scores=True)], width=width, color=color)
    return draw(
        [
            _figures(outcomes, axes, width),
            score_lines(outcomes, axes, width=width),
            [text(note) for note in notes_of(outcomes)],
        ],
        width=width,
        color=color,
    )


def _figures(
    outcomes: Sequence[PointOutcome], axes: Sequence[str], width: int, *, scores: bool = False
) -> list[RenderableType]:
    from loadgen.sessions.series.headline_scores import scores_in_words
    from reporter.run_row import figures

    rows = [figures(outcome.report) for outcome in outcomes]
    named = zip(*(axis_cells(outcome, axes) for outcome in outcomes), strict=True)
    columns: list[tuple[Column, Sequence[Cell]]] = [
        *zip(axis_columns(axes), named, strict=True),
        (Column("score"), [scores_in_words(outcome.report) if scores else "" for outcome in outcomes]),
        *((Column(title, rank), [show(row) for row in rows]) for title, rank, show in _FIGURES),
        (
            Column("result", justify="left"),
            [Mark(word, _TONES.get(word, "")) for word in map(result, outcomes)],
        ),
        (_WARNINGS, [", ".join(warnings_of(outcome)) for outcome in outcomes]),
    ]
    used = [(column, cells) for column, cells in columns if any(plain(cell) not in _EMPTY for cell in cells)]
    shown, cells = zip(*used, strict=True)
    return tables(Table(shown, tuple(zip(*cells, strict=True))), width=width)


_EMPTY: Final = frozenset({"", "0.0%"})
_WARNINGS: Final = Column("warnings", 5, justify="left", folds=True)
_TONES: Final[dict[str, Tone]] = {"missed": "bad", "invalid": "doubt", "overloaded": "doubt"}


def _number(name: str, digits: int) -> Callable[[Figures], str]:
    def show(figures_of_run: Figures) -> str:
        value = getattr(figures_of_run, name)
        return NONE if value is None else f"{value:,.{0 if value >= _EXACT else digits}f}"

    return show


def _error_rate(figures_of_run: Figures) -> str:
    return NONE if figures_of_run.error_rate is None else f"{figures_of_run.error_rate:.1%}"


_FIGURES: Final[tuple[tuple[str, int, Callable[[Figures], str]], ...]] = (
    ("req/s", 2, _number("qps", 2)),
    ("tok/s", 0, _number("output_tps", 1)),
    ("tok/s\n/user", 1, _number("user_tps", 1)),
    ("TTFT\np50 ms", 0, _number("ttft_p50_ms", 1)),
    ("TTFT\np99 ms", 0, _number("ttft_p99_ms", 1)),
    ("TPOT\np50 ms", 3, _number("tpot_p50_ms", 2)),
    ("TPOT\np99 ms", 4, _number("tpot_p99_ms", 2)),
    ("errors", 0, _error_rate),
)
"""Heading, rank of removal where the page is too narrow (0: never), and format."""
