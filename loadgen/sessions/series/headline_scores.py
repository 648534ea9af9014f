"""The scores of a series' runs, by benchmark."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from reporter.report import Report
    from reporter.values.task_score import TaskScore


@dataclass(frozen=True, slots=True)
class HeadlineScore:
    """The headline score of a run in one benchmark, by one scorer.

    Attributes:
        name: The benchmark, with its scorer where that is not its own: `math500, math_verify`.
        figure: What the benchmark calls it, e.g. `accuracy`.
        value: The score; with `unscored` samples a lower bound. None where nothing is scored.
        unit: `share` from 0 to 1, or that of the benchmark.
        low: The lower end of its 95 % interval.
        high: The upper end.
        n: Samples that were asked.
        unscored: Those of them without a score.
    """

    name: str
    figure: str
    value: float | None
    unit: str
    low: float | None
    high: float | None
    n: int
    unscored: int


def scores_of(report: Report) -> list[HeadlineScore]:
    """The headline score of each benchmark that a run asked, and scorer."""
    return [_score(of) for of in report.accuracy]


def scores_in_words(report: Report) -> str:
    """The headline scores of a run in one cell: `75.00 %`, or with names if several."""
    from reporter.render.score_tables import value_in_words

    scores = scores_of(report)
    named = {score.name: value_in_words(score.value, score.unit) for score in scores}
    return ", ".join(
        named.values() if len(named) == 1 else (f"{name} {value}" for name, value in named.items())
    )


def _score(of: TaskScore) -> HeadlineScore:
    from reporter.render.score_tables import titled

    figure, headline = next(iter(of.headlines.items()))
    interval = headline.interval
    return HeadlineScore(
        name=titled(of),
        figure=figure,
        value=headline.value,
        unit=headline.unit,
        low=interval.low if interval else None,
        high=interval.high if interval else None,
        n=of.issued,
        unscored=of.unscored,
    )
