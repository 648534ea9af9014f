"""The differences of a comparison, with intervals."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from reporter.contents import metric_statements
from reporter.plots.plot_value import Axis, NoPlot, Plot, PlotSeries
from reporter.render import compared
from reporter.render.plot_picture import picture

if TYPE_CHECKING:
    from reporter.compare.comparison import Comparison, MetricChange

_NAME: Final = "differences"


def differences(comparison: Comparison) -> Plot | NoPlot:
    """A row for each metric and side, in percent or in points, by the finding; some have no interval."""
    others = [compared.label(comparison, index) for index in range(1, len(comparison.sides))]
    title = f"Change from {compared.label(comparison, 0)} to {', '.join(others)}"
    changes = [
        (
            row.metric
            + (f" of {others[index - 1]}" if len(others) > 1 else "")
            + (", points" if row.in_points else ""),
            change,
        )
        for row in comparison.rows
        for index, change in enumerate(row.changes, start=1)
        if change.by is not None
    ]
    if not changes:
        return NoPlot(_NAME, title, "the runs have no figure in common")
    level = f"{100 * comparison.rules.level:g} %"
    return Plot(
        name=_NAME,
        title=title,
        x=Axis("metric", "", "category"),
        y=Axis("change", "%, or points"),
        series=tuple(_row(name, change) for name, change in changes),
        sql=metric_statements.figures(row.metric for row in comparison.rows),
        note=f"Lines are {level} intervals. The query has the figures of a run.",
    )


def _row(name: str, change: MetricChange) -> PlotSeries:
    ends = None if change.low is None or change.high is None else (100 * change.low, 100 * change.high)
    return PlotSeries(
        name=change.finding,
        kind="points",
        x=(name,),
        y=(None if change.by is None else 100 * change.by,),
        low=None if ends is None else (ends[0],),
        high=None if ends is None else (ends[1],),
    )


def render_svg(comparison: Comparison) -> str:
    """A row for each metric and side, with the interval.

    Raises:
        ImportError: matplotlib is not there.
    """
    return picture([differences(comparison)], "svg").decode()
