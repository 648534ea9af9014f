"""The plot of accuracies has the figures of the report."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from reporter.log.database import open_log
from reporter.log.query import query
from reporter.plots.make import make_plot
from reporter.plots.plot_value import Plot

if TYPE_CHECKING:
    from collections.abc import Callable


@pytest.mark.slow
@pytest.mark.parametrize("repeats", [1, 2])
def test_the_plot_of_accuracies_has_those_of_the_report(asks: Callable[..., Any], repeats: int) -> None:
    """Whole and per subject, with their intervals: Wilson's, or over questions that were asked twice."""
    benchmark = asks("mmlu_pro", 9, tags=lambda number: {"subject": ("law", "art", "$x$")[number % 3]})
    for _ in range(repeats):
        for number in range(9):
            benchmark.answers(number, "mmlu_pro")
    benchmark.scored(*((number % 2, number % 5 > 0)[number >= 9] for number in range(9 * repeats)))
    (score,) = benchmark.report().accuracy
    with open_log(benchmark.run.folder) as log:
        plot = make_plot(log, "accuracy")
    assert isinstance(plot, Plot)
    (series,) = plot.series
    assert series.low is not None
    assert series.high is not None
    assert series.x == ("all", "subject: $x$", "subject: art", "subject: law")
    wholes = [score, *(score.groups["subject"][name] for name in ("$x$", "art", "law"))]
    for whole, y, low, high in zip(wholes, series.y, series.low, series.high, strict=True):
        assert (y, low, high) == pytest.approx(
            (100 * whole.value, 100 * whole.interval.low, 100 * whole.interval.high)
        )
    assert [row[1:] for row in query(benchmark.run.folder, plot.sql).rows] == list(
        zip(series.x, series.y, series.low, series.high, strict=True)
    )
