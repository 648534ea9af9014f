"""Scores in benchmarks as tables: the figures of each task, and of each part."""

from __future__ import annotations

from math import isclose
from pathlib import PurePath
from typing import TYPE_CHECKING, Final

from rich.text import Text

from lazy_dataclasses import dataclass
from reporter import statements
from reporter.number_text import NOTHING, between, figure, fixed, whole
from reporter.render.console_page import block, clean, sentence, tables, text
from reporter.render.table import Column, Mark, Table

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from rich.console import RenderableType

    from reporter.render.table import Cell
    from reporter.report import Report
    from reporter.values.task_score import (
        ConfidenceInterval,
        GroupScore,
        HeadlineFigure,
        RepeatStatistics,
        SampleStatistics,
        TaskScore,
    )

MOST_FIGURES: Final = 10
"""Of a task; report.json has the others too."""

_COUNTS: Final = (
    ("unparsed", "unparsed", 2),
    ("missing", "missing", 3),
    ("unscored", "unscored", 0),
)
"""Key, title, and which goes first where the page is too narrow; left out where there are none of them."""

_UNSCORED: Final = "unscored"
PLAIN: Final = "accuracy"
"""A first figure of this name is shown by its task alone."""
_ROUNDING: Final = 1e-9
_INDENT: Final = "  "


def section(report: Report, *, width: int, summary_only: bool = False) -> list[RenderableType]:
    """The scores of a run with benchmarks.

    Args:
        report: The report.
        width: Columns of the page.
        summary_only: Of each task only its first figure, and no notes.
    """
    table = score_table(report.accuracy, 1 if summary_only else MOST_FIGURES)
    shown = tables(table, width=width)
    if not summary_only and (score_notes := notes(report)):
        shown.append(block("Scores", *score_notes))
    return shown


def score_table(scores: Sequence[TaskScore], limit: int = MOST_FIGURES) -> Table:
    """The main figures of tasks, `limit` of each at most."""
    return _table(
        "accuracy", [line for score in scores for line in _lines(score, limit)], statements.accuracy()
    )


def notes(report: Report) -> list[Text]:
    """The notes on all tasks, each line after the task's name."""
    return [line for score in report.accuracy for line in _notes(score)]


def group_tables(report: Report, tag: str | None = None) -> Iterator[Table]:
    """The breakdowns by a tag, or all without those that are main figures of a task."""
    for score in report.accuracy:
        main_figures = [*score.headlines][:MOST_FIGURES]
        for name, values in score.groups.items():
            if values and (tag == name or (tag is None and not values.keys() <= {*main_figures})):
                lines = [
                    AccuracyLine(value, "share", "higher", part, part.unscored, part)
                    for value, part in values.items()
                ]
                caption = f"Accuracy by {clean(name)}: {called(score)}"
                yield _table(name, lines, statements.groups(), caption)


def called(score: TaskScore) -> str:
    """A task, with the scorer unless official: `math500, math_verify`."""
    named = score.scorer is not None and not score.official
    return clean(f"{score.task}, {score.scorer}" if named else score.task)


def titled(score: TaskScore) -> str:
    """As `called`, shorter: a file of questions by name without folder."""
    title = called(score)
    return f"{PurePath(score.task).name}{title.removeprefix(score.task)}" if "/" in score.task else title


def value_in_words(value: float | None, unit: str) -> str:
    """A figure: a share in per cent, with two decimals."""
    if value is None:
        return NOTHING
    return f"{fixed(100 * value, 2)} %" if unit == "share" else figure(value, 4)


def interval_in_words(interval: ConfidenceInterval | None, unit: str) -> str:
    """An interval: `[75.12, 79.04]`; empty without one."""
    return "" if interval is None else ends_in_words(interval.low, interval.high, unit)


def ends_in_words(low: float, high: float, unit: str) -> str:
    """An interval: `[75.12, 79.04]`."""
    return between(*(fixed(100 * end, 2) if unit == "share" else figure(end, 4) for end in (low, high)))


@dataclass(frozen=True, slots=True)
class AccuracyLine:
    """A row of a table.

    Attributes:
        unscored: How many samples are not in it.
        counts: The outcomes of the samples; None where another row has them.
    """

    label: str
    unit: str
    better: str
    figure: HeadlineFigure | GroupScore
    unscored: int
    counts: TaskScore | GroupScore | None = None


def _lines(score: TaskScore, limit: int) -> Iterator[AccuracyLine]:
    """A task by the first figure, with the other figures below."""
    (title, first), *others = score.headlines.items()
    named = called(score) if title == PLAIN else f"{called(score)}: {clean(title)}"
    yield AccuracyLine(named, first.unit, first.better, first, _open(score, first), score)
    # One of a part that nothing was asked of is not defined.
    defined_figures = [(name, headline) for name, headline in others if headline.value is not None]
    parts = {name: part for group in score.groups.values() for name, part in group.items()}
    for name, headline in defined_figures[: limit - 1]:
        part = parts.get(name)
        yield AccuracyLine(
            f"{_INDENT}{clean(name)}",
            headline.unit,
            headline.better,
            headline,
            _open(score, headline),
            part if part is not None and isclose(part.value, headline.value or 0.0) else None,
        )


def _open(score: TaskScore, figure: HeadlineFigure) -> int:
    """The number of samples that could change a figure but are not in the figure."""
    return 0 if figure.value == figure.best is not None else score.unscored


def _table(title: str, lines: Sequence[AccuracyLine], sql: str, caption: str = "") -> Table:
    counted = [line.counts for line in lines if line.counts is not None]
    kinds = [kind for kind in _COUNTS if any(getattr(counts, kind[0], 0) for counts in counted)]
    columns = (
        Column(clean(title), justify="left", folds=True),
        Column("score"),
        Column("95 % interval", 1),
        Column("samples"),
        *(Column(heading, rank) for _, heading, rank in kinds),
    )
    keys = ["issued", *(key for key, *_ in kinds)]
    rows = tuple(
        (
            line.label,
            _value(line),
            interval_in_words(line.figure.interval, line.unit),
            *_cells(line.counts, keys),
        )
        for line in lines
    )
    return Table(columns, rows, caption, sql)


def _cells(counts: TaskScore | GroupScore | None, keys: Iterable[str]) -> Iterator[str]:
    for key in keys:
        count = getattr(counts, key, None)
        yield "" if count is None else whole(count)


def _value(line: AccuracyLine) -> Cell:
    """A figure; a lower bound is marked."""
    value = line.figure.value
    if not line.unscored:
        return value_in_words(value, line.unit)
    if value is None:
        return Mark(_UNSCORED, "doubt")
    sign = ">= " if line.better == "higher" else ""
    return Mark(f"{sign}{value_in_words(value, line.unit)}", "doubt")


def _notes(score: TaskScore) -> Iterator[Text]:
    """The notes on a task, each line after the task's name."""
    further = sum(headline.value is not None for headline in score.headlines.values()) - MOST_FIGURES
    lines = [
        sentence(*_samples(score)),
        sentence(*_attempts(score)),
        *(text(note) for note in score.notes),
        Text(f"{further} further figures in report.json") if further > 0 else Text(),
    ]
    yield from (Text(": ", overflow="fold").join([text(called(score)), line]) for line in lines if line)


def _samples(score: TaskScore) -> Iterator[str]:
    values = score.statistics
    if values is not None and not _is_binary(values):
        yield "values " + ", ".join(
            f"{name} {getattr(values, name):.4g}" for name in ("mean", "median", "std", "min", "max")
        )
    if score.tokens_per_sample is not None:
        yield f"{figure(score.tokens_per_sample, 3)} output tokens per sample"
    if score.refused:
        yield f"{value_in_words(score.refused, 'share')} refused"


def _unit(score: TaskScore) -> str:
    """The unit of the first figure."""
    return next(iter(score.headlines.values())).unit


def _ranged(repeats: RepeatStatistics, unit: str) -> str:
    """The range of the means of repeats, and the standard deviation."""
    low, high, std = (value_in_words(value, unit) for value in (repeats.min, repeats.max, repeats.std))
    return f"{low} to {high}, std {std}"


def _is_binary(values: SampleStatistics) -> bool:
    """Whether all values are 0 or 1, so that the score determines the variance: p (1 - p)."""
    p, ends = values.mean, {values.min, values.max}
    return ends <= {0.0, 1.0} and abs(values.std**2 - p * (1 - p)) < _ROUNDING


def _attempts(score: TaskScore) -> Iterator[str]:
    if not score.pass_at:
        return
    yield f"{score.repeats} attempts at each of {whole(score.questions)} questions"
    if repeats := score.over_repeats:
        yield f"mean of a repeat {_ranged(repeats, _unit(score))}"
    least = ">= " if score.unscored else ""
    for sign, shares in (("@", score.pass_at), ("^", score.pass_hat)):
        for k, share in shares.items():
            if sign == "@" or k != "1":
                yield f"pass{sign}{k} {least}{value_in_words(share, 'share')}"
