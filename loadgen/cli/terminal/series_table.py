"""The runs of a series as tables for the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from loadgen.cli.terminal.show import page
from loadgen.sessions.errors import printable
from loadgen.sessions.series.run_rows import (
    accepted_note,
    notes_of,
    result,
    scores_in_words,
    scores_of,
    warning_notes,
    warnings_of,
)
from loadgen.sessions.series.suite.summary import sentence
from loadgen.sessions.series.sweep.sweep_files import conclusions
from reporter.render.console_page import clean, draw, tables, text
from reporter.render.score_tables import ends_in_words, value_in_words
from reporter.render.table import Cell, Column, Mark, Table, Tone, plain
from reporter.run_row import Figures, figures

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from rich.console import RenderableType

    from loadgen.sessions.files.series_file import Series
    from loadgen.sessions.series.search.search_result import SearchOutcome
    from loadgen.sessions.series.search.trials import EvaluatedTrial
    from loadgen.sessions.series_outcome import PointOutcome

NONE: Final = "-"
_LEAST_AXIS: Final = 16


def axis_columns(axes: Sequence[str]) -> list[Column]:
    """The folder, and the values of the axes, which are removed before any figure; long texts are folded."""
    values = [Column(name, 6, justify="left", folds=True, least=_LEAST_AXIS) for name in axes]
    return [Column("run", justify="left", folds=True, least=24), *values]


def axis_cells(outcome: PointOutcome, axes: Sequence[str]) -> list[str]:
    """The folder of a run, and the values on the axes."""
    return [outcome.folder.name, *(shown(outcome.point.axes.get(name)) for name in axes)]


def shown(value: object) -> str:
    """A value of an axis."""
    return clean(f"{value:g}" if isinstance(value, float) else NONE if value is None else str(value))


_EXACT: Final = 1000
"""A figure from this size on is shown without decimals."""


def table(outcomes: Sequence[PointOutcome], *, width: int, color: bool = False, compact: bool = False) -> str:
    """All points under one heading, then the scores if any, then notes."""
    axes = list(dict.fromkeys(name for outcome in outcomes for name in outcome.point.axes))
    if compact:
        return draw([_figures(outcomes, axes, width, scores=True)], width=width, color=color)
    return draw(
        [
            _figures(outcomes, axes, width),
            _score_lines(outcomes, axes, width=width),
            [text(note) for note in notes_of(outcomes)],
        ],
        width=width,
        color=color,
    )


def _figures(
    outcomes: Sequence[PointOutcome], axes: Sequence[str], width: int, *, scores: bool = False
) -> list[RenderableType]:
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


_EMPTY: Final = frozenset({"", "0.0 %"})
_WARNINGS: Final = Column("warnings", 5, justify="left", folds=True)
_TONES: Final[dict[str, Tone]] = {"missed": "bad", "invalid": "doubt", "overloaded": "doubt"}


def _number(name: str, digits: int) -> Callable[[Figures], str]:
    def show(figures_of_run: Figures) -> str:
        value = getattr(figures_of_run, name)
        return NONE if value is None else f"{value:,.{0 if value >= _EXACT else digits}f}"

    return show


def _error_rate(figures_of_run: Figures) -> str:
    return NONE if figures_of_run.error_rate is None else f"{100 * figures_of_run.error_rate:.1f} %"


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


def _score_lines(
    outcomes: Sequence[PointOutcome], axes: Sequence[str], *, width: int
) -> list[RenderableType]:
    scored = [(outcome, score) for outcome in outcomes for score in scores_of(outcome.report)]
    if not scored:
        return []
    unscored = any(score.unscored for _, score in scored)
    columns = (
        *axis_columns(axes),
        Column("scored by", justify="left", folds=True, least=12),
        Column("score"),
        Column("95 % interval", 1),
        Column("n"),
        *([Column("unscored", 2)] if unscored else []),
    )
    rows = []
    for outcome, score in scored:
        ends = ""
        if score.low is not None and score.high is not None:
            ends = ends_in_words(score.low, score.high, score.unit)
        least = ">= " if score.unscored and score.value is not None else ""
        rows.append(
            (
                *axis_cells(outcome, axes),
                score.name,
                least + value_in_words(score.value, score.unit),
                ends,
                f"{score.n:,}",
                *([f"{score.unscored:,}"] if unscored else []),
            )
        )
    return tables(Table(columns, tuple(rows)), width=width)


def search_table(result: SearchOutcome, *, width: int, color: bool = False) -> str:
    """Every trial in a row, and the result in a sentence."""
    columns = (
        Column(result.axis),
        Column("trial", justify="left"),
        Column("seconds", 2),
        Column("requests", 1),
        Column("req/s", 3),
        Column("verdict", justify="left", folds=True),
    )
    rows = tuple(map(_trial_cells, result.evaluated))
    trials = tables(Table(columns, rows), width=width) if rows else []
    outcomes = [trial.outcome for trial in result.evaluated]
    notes = [note for outcome in outcomes for note in accepted_note(outcome)]
    shown = [text(note) for note in (*notes, *warning_notes(outcomes))]
    return draw([trials, [text(result.message)], shown], width=width, color=color)


def _trial_cells(evaluated: EvaluatedTrial) -> tuple[str, ...]:
    report, trial = evaluated.outcome.report, evaluated.tried.trial
    return (
        f"{trial.load:g}",
        "full" if trial.thorough else "scout",
        f"{report.window.duration_s or 0.0:.1f}",
        f"{report.counts.issued:,}",
        f"{report.throughput.qps or 0.0:,.2f}",
        evaluated.in_words,
    )


def suite_tables(
    folder: Path, series: Series, outcomes: Sequence[PointOutcome], *, compact: bool = False
) -> str:
    """The tables, how many runs are done, and whether the requirements are met."""
    shown = [table(outcomes, compact=compact, **page()) + "\n"] if outcomes else []
    done = f"{len(outcomes)} of {len(series.points)} runs are done, in {printable(str(folder))}\n"
    requirements = sentence(outcomes)
    return "".join([*shown, done, f"{requirements}\n" if requirements else ""])


def sweep_tables(outcomes: Sequence[PointOutcome]) -> str:
    """The table, both fronts and the knees."""
    from rich.text import Text

    shown = page()
    lines = [Text(printable(line)) for line in conclusions(outcomes)]
    return table(outcomes, **shown) + "\n" + draw([lines], **shown)
