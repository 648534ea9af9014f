"""Make plots of an opened log."""

from __future__ import annotations

from dataclasses import replace
from itertools import groupby
from typing import TYPE_CHECKING, Any

from reporter.imported import has_starts
from reporter.json_values import members
from reporter.log.definition_variables import as_sql
from reporter.log.run_head import logged_settings
from reporter.plots.catalog import PLOTS
from reporter.plots.over_time import TIME
from reporter.plots.plot_value import NoPlot, Plot, PlotSeries

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from reporter.log.database import OpenLog
    from reporter.plots.definition import PlotDefinition


def make_plot(log: OpenLog, name: str, tag: str | None = None) -> Plot | NoPlot:
    """Make a plot of a run.

    Args:
        log: An opened log; the big tables that the plot needs are loaded.
        name: One of `reporter.plots.catalog.PLOTS`.
        tag: A tag of the dataset: then a series is made for each of its values, unless the plot is not about
            requests.

    Returns:
        The plot, or why there is none.

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

    Args:
        plots: By the names of the runs; without tags.

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
