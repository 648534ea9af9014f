"""Make plots of an opened log."""

from __future__ import annotations

from dataclasses import replace
from itertools import groupby
from typing import TYPE_CHECKING, Any, Final

from reporter.imported import has_starts
from reporter.json_values import members
from reporter.log.run_head import logged_settings
from reporter.plots.benchmark_scores import ACCURACY
from reporter.plots.latency_distributions import DISTRIBUTIONS, LENGTHS
from reporter.plots.over_time import OVER_TIME, TIME
from reporter.plots.plot_value import NoPlot, Plot, PlotSeries
from reporter.plots.sensor_readings import TELEMETRY
from reporter.statements import as_sql

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from reporter.log.database import OpenLog
    from reporter.plots.definition import PlotDefinition

PLOTS: Final[Mapping[str, PlotDefinition]] = {
    definition.name: definition
    for definition in (*DISTRIBUTIONS, *OVER_TIME, *TELEMETRY, *LENGTHS, *ACCURACY)
}
"""Those of a run."""

OF_SWEEPS: Final[Mapping[str, str]] = {
    "pareto-interactivity": "throughput against interactivity: Pareto front, knee, SLO region",
    "pareto-ttft": "throughput against TTFT, with the Pareto front",
}
"""Those of a sweep, by `reporter.plots.pareto`, with what they show."""

DIFFERENCES: Final = "differences"
"""That of a comparison, by `reporter.render.comparison_figure`."""

SETS: Final[Mapping[str, tuple[str, ...]]] = {
    "over-time": ("rate-over-time", "in-flight-over-time", "tokens-over-time", "ttft-over-time"),
    **{
        latency: tuple(f"{latency}-{form}" for form in ("histogram", "cdf", "percentiles"))
        for latency in ("ttft", "tpot", "itl", "latency")
    },
    "telemetry": tuple(definition.name for definition in TELEMETRY),
    "lengths": tuple(definition.name for definition in LENGTHS),
    "pareto": tuple(OF_SWEEPS),
}
"""Pictures of several plots, one under the other."""


def described() -> dict[str, str]:
    """Every name with a description, pictures of several plots first."""
    return {
        **{name: f"one under the other: {', '.join(plots)}" for name, plots in SETS.items()},
        **{name: definition.shows for name, definition in PLOTS.items()},
        **OF_SWEEPS,
        DIFFERENCES: "of several runs: how much each metric differs from the first one's, with intervals",
    }


def make_plot(log: OpenLog, name: str, tag: str | None = None) -> Plot | NoPlot:
    """Make a plot of a run.

    Args:
        log: An opened log; the big tables that the plot needs are loaded.
        name: One of `reporter.plots.make.PLOTS`.
        tag: A tag of the dataset: then a series is made for each of its values, unless the plot is not about
            requests.

    Raises:
        LogError: The log is damaged.
        NoRoomError: Memory and temporary disk space are too small for what the plot needs.
    """
    definition = PLOTS[name]
    if definition.x == TIME and not has_starts(members(logged_settings(log).get("imported")) or None):
        return NoPlot(name, definition.title, "the imported file has no start times of requests")
    tag = tag if definition.has_parts else None
    log.load(definition.tables)
    statement = definition.statement(tag)
    rows = log.execute(statement).fetchall()
    if not rows:
        return NoPlot(name, definition.title, definition.lacking)
    return Plot(
        name=name,
        title=definition.title,
        x=definition.x,
        y=definition.y,
        series=_series(definition, rows, has_parts=tag is not None),
        sql=as_sql(log.definitions.to_dict()) + statement,
        note=definition.note,
    )


def overlaid(plots: Mapping[str, Plot | NoPlot]) -> Plot | NoPlot:
    """The plots of one name from several runs in one plot, with series grouped by run.

    Returns:
        The plot of the runs that have it; where none has, why the first does not.
    """
    made = {run: plot for run, plot in plots.items() if isinstance(plot, Plot)}
    if not made:
        return next(iter(plots.values()))
    missing = [f"{run}: {plot.reason}." for run, plot in plots.items() if isinstance(plot, NoPlot)]
    first = next(iter(made.values()))
    series = [replace(series, group=run) for run, plot in made.items() for series in plot.series]
    return replace(first, series=tuple(series), note=" ".join(filter(None, (first.note, *missing))))


def _series(
    definition: PlotDefinition, rows: Sequence[tuple[Any, ...]], *, has_parts: bool
) -> tuple[PlotSeries, ...]:
    """Rows as series: consecutive ones of one part and one name."""
    first = 1 if has_parts else 0
    series = []
    for key, points in groupby(rows, key=lambda row: row[: first + 1]):
        x, y, *ends = zip(*(point[first + 1 :] for point in points), strict=True)
        low, high = ends or (None, None)
        name = key[first]
        series.append(
            PlotSeries(name, definition.kind_of(name), x, y, low, high, group=key[0] if has_parts else None)
        )
    return tuple(series)
