"""The runs of a series as tables for the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from rich.text import Text

from loadgen.cli.terminal.axes import NONE, axis_cells, axis_columns
from loadgen.sessions.series.notes import notes_of
from loadgen.sessions.series.rows import result, warnings_of
from reporter.render.page import Column, draw, grid, text

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from loadgen.sessions.series_outcome import PointOutcome
    from reporter.sweep import Figures

_EXACT: Final = 1000
"""A figure from this size on is shown without decimals."""


def table(outcomes: Sequence[PointOutcome], *, width: int, color: bool = False, compact: bool = False) -> str:
    """All points under one heading, then the scores if any, then notes.

    Args:
        outcomes: The outcomes of the points, at least one.
        width: Columns of the page; figures that have no room are left out, the least important first.
        color: Whether it is for a terminal that has colors.
        compact: Only the first table, with the scores in it.
    """
    from loadgen.cli.terminal.score_table import lines as score_lines

    axes = list(dict.fromkeys(name for outcome in outcomes for name in outcome.point.axes))
    if compact:
        return draw([[_figures(outcomes, axes, width, scores=True)]], width=width, color=color)
    return draw(
        [
            [_figures(outcomes, axes, width)],
            score_lines(outcomes, axes, width=width),
            [text(note) for note in notes_of(outcomes)],
        ],
        width=width,
        color=color,
    )


def _figures(
    outcomes: Sequence[PointOutcome], axes: Sequence[str], width: int, *, scores: bool = False
) -> Any:
    from loadgen.sessions.series.scores import scores_in_words
    from reporter.sweep import figures

    figures_of_runs = [figures(outcome.report) for outcome in outcomes]
    has_errors = any(of.error_rate for of in figures_of_runs)
    shown_figures = [figure for figure in _FIGURES if figure[0] != _ERRORS or has_errors]
    results = [result(outcome) for outcome in outcomes]
    named = [Column("result", justify="left")] if any(results) else []
    warnings = [", ".join(warnings_of(outcome)) for outcome in outcomes]
    warned = [Column("warnings", 5, justify="left", folds=True)] if any(warnings) else []
    scored = [Text(scores_in_words(outcome.report)) for outcome in outcomes]
    has_scores = scores and any(scored)
    columns = [*axis_columns(axes), *[Column("score")][: int(has_scores)]]
    columns += [*(Column(title, rank) for title, rank, _ in shown_figures), *named, *warned]
    cells = [
        [
            *axis_cells(outcome, axes),
            *[score][: int(has_scores)],
            *(Text(show(of)) for _, _, show in shown_figures),
            *[Text(word, style=_STYLES.get(word, "")) for word in [result_word][: len(named)]],
            *[text(codes)][: len(warned)],
        ]
        for outcome, of, result_word, score, codes in zip(
            outcomes, figures_of_runs, results, scored, warnings, strict=True
        )
    ]
    return grid(columns, cells, width=width)


_STYLES: Final = {"missed": "bold red", "invalid": "bold yellow", "overloaded": "bold yellow"}


def _number(name: str, digits: int) -> Callable[[Figures], str]:
    def show(figures_of_run: Figures) -> str:
        value = getattr(figures_of_run, name)
        return NONE if value is None else f"{value:,.{0 if value >= _EXACT else digits}f}"

    return show


def _error_rate(figures_of_run: Figures) -> str:
    return NONE if figures_of_run.error_rate is None else f"{figures_of_run.error_rate:.1%}"


_ERRORS: Final = "errors"
_FIGURES: Final[tuple[tuple[str, int, Callable[[Figures], str]], ...]] = (
    ("req/s", 2, _number("qps", 2)),
    ("tok/s", 0, _number("output_tps", 1)),
    ("tok/s\n/user", 1, _number("user_tps", 1)),
    ("TTFT\np50 ms", 0, _number("ttft_p50_ms", 1)),
    ("TTFT\np99 ms", 0, _number("ttft_p99_ms", 1)),
    ("TPOT\np50 ms", 3, _number("tpot_p50_ms", 2)),
    ("TPOT\np99 ms", 4, _number("tpot_p99_ms", 2)),
    (_ERRORS, 0, _error_rate),
)
"""Heading, rank of removal where the page is too narrow (0: never), and format."""
