"""Plots of a run: their points, and the SQL that makes them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from reporter.log.database import open_log
from reporter.log.query import open_for_queries
from reporter.log.tables import BIG_TABLES
from reporter.plots.make import PLOTS, make_plot
from reporter.plots.plot_value import NoPlot, Plot
from reporter.plots.sensor_readings import TELEMETRY
from rulesets.definitions import Definitions

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

CLASSES = ("chat", "code")
LACKING = {"accuracy", *(definition.name for definition in TELEMETRY)}
"""Plots that a run without benchmarks and sensors does not have."""


@pytest.fixture(scope="module")
def run(a_run: Callable[..., Any]) -> Path:
    """Forty answers of two classes, one each 25 ms, and two failures."""
    described = a_run()
    for number in range(40):
        at_ms = 25 * number
        described.answers(
            *(at_ms + 10 + number + 5 * chunk for chunk in range(4)),
            at_ms=at_ms,
            usage=(10 * number, 4 + number % 3),
            issue={"scheduled": at_ms - 1, "about": {"tags": {"class": CLASSES[number % 2]}}},
        )
    return described.stops(1000).ends(1100).write()  # type: ignore[no-any-return]


@pytest.fixture(scope="module")
def idle(a_run: Callable[..., Any]) -> Path:
    """A run without a request."""
    return a_run().stops(10).ends(11).write()  # type: ignore[no-any-return]


def rows_of(plot: Plot, *, has_parts: bool) -> list[tuple[Any, ...]]:
    """The points as the rows of the plot's SQL."""
    rows = []
    for series in plot.series:
        columns = [series.x, series.y]
        if series.low is not None and series.high is not None:
            columns += [series.low, series.high]
        names = (series.group, series.name) if has_parts else (series.name,)
        rows += [(*names, *point) for point in zip(*columns, strict=True)]
    return rows


@pytest.mark.slow
@pytest.mark.parametrize(
    ("tag", "changed"), [(None, {"latency_origin": "scheduled", "tpot_end": "complete"}), ("class", {})]
)
def test_the_sql_of_a_plot_has_its_points(run: Path, changed: dict[str, Any], tag: str | None) -> None:
    """As `loadgen sql` answers it; by other definitions as well, whose variables it sets."""
    with open_log(run) as log:
        by_definitions = log.with_definitions(Definitions(**changed))
        plots = [make_plot(by_definitions, name, tag) for name in PLOTS if not tag or PLOTS[name].has_parts]
        made = [plot for plot in plots if isinstance(plot, Plot)]
    assert {plot.name for plot in plots} - {plot.name for plot in made} == (set() if tag else LACKING)
    connection = open_for_queries(run, also=BIG_TABLES)
    for plot in made:
        assert connection.execute(plot.sql).fetchall() == rows_of(plot, has_parts=tag is not None), plot.name
        assert all(len(series.x) == len(series.y) > 0 for series in plot.series)
        if tag is not None:
            assert {series.group for series in plot.series} == set(CLASSES)
    connection.close()


@pytest.mark.slow
def test_a_plot_without_points_is_not_made(idle: Path) -> None:
    """And says why."""
    with open_log(idle) as log:
        for name, definition in PLOTS.items():
            assert make_plot(log, name) == NoPlot(name, definition.title, definition.lacking)


def test_a_cdf_has_each_value_of_few(run: Path) -> None:
    """TTFTs of 10 to 49 ms, each of one request: the share rises by one of forty."""
    with open_log(run) as log:
        plot = make_plot(log, "ttft-cdf")
    assert isinstance(plot, Plot)
    (series,) = plot.series
    assert series.x == tuple(range(10, 50))
    assert series.y == tuple(2.5 * count for count in range(1, 41))


def test_a_cdf_of_many_has_few_points_which_are_exact(a_run: Callable[..., Any]) -> None:
    """Each is a value of a request, with the share of all that does not exceed it."""
    described = a_run()
    for number in range(1500):
        described.answers(number + (number * 7919 % 1500) / 7, at_ms=number)
    with open_log(described.stops(2000).ends(2000).write()) as log:
        plot = make_plot(log, "ttft-cdf")
        values = sorted(ms for (ms,) in log.execute("SELECT ttft_ms FROM samples").fetchall())
    assert isinstance(plot, Plot)
    (series,) = plot.series
    assert 100 < len(series.x) <= 201
    for x, y in zip(series.x, series.y, strict=True):
        assert y == 100 * sum(value <= x for value in values) / len(values)
    assert (series.x[0], series.x[-1]) == (values[0], values[-1])
