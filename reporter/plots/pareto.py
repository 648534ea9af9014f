"""The runs of a sweep as points: throughput against a latency, the Pareto front and the knee."""

from __future__ import annotations

from dataclasses import replace
from itertools import takewhile
from typing import TYPE_CHECKING, Final

from reporter import statements
from reporter.pareto_front import clear_front, knee
from reporter.plots.plot_value import Axis, NoPlot, Plot, PlotSeries

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from reporter.pareto_front import Spot
    from reporter.plots.planes import Plane
    from reporter.plots.plot_value import Kind
    from reporter.plots.slo_region import SloRegion


_FRONT: Final = "Pareto front"


def pareto_plot(
    plane: Plane, passing: Collection[str] = (), region: SloRegion | None = None
) -> Plot | NoPlot:
    """Make the plot of a plane.

    Args:
        plane: The runs on it.
        passing: The names of those whose verdict is PASS.
        region: Where its targets are met.
    """
    name = f"pareto-{plane.name}"
    title = f"Throughput against {plane.axis.label.partition(':')[0]}"
    if not plane.spots:
        return NoPlot(name, title, f"no run is valid and has both a throughput and a {plane.latency}")
    line, bend = clear_front(plane.spots), knee(plane.spots).spot
    kinds = {
        spot: "knee"
        if spot == bend
        else "meets its targets"
        if spot.name in passing
        else _FRONT
        if spot in line
        else "run"
        for spot in plane.spots
    }
    series = [
        *([] if region is None else [_shaded(plane, region)]),
        *([_series(plane, _FRONT, "line", line)] if line else []),
        *(
            _series(plane, kind, "points", [spot for spot in plane.spots if kinds[spot] == kind])
            for kind in dict.fromkeys(kinds.values())
        ),
    ]
    return Plot(
        name=name,
        title=title,
        x=plane.axis,
        y=Axis("throughput: output tokens", "1/s"),
        series=tuple(series),
        sql=_SQL,
        note=" ".join(filter(None, (_NOTE, _named(plane), "" if region is None else region.note))),
    )


def _named(plane: Plane) -> str:
    """The common prefix of the names of all runs, which the points of a page leave out."""
    words = zip(*(spot.name.split("-") for spot in plane.spots), strict=False)
    common = "-".join(word for word, *_ in takewhile(lambda column: len(set(column)) == 1, words))
    return f"Points are named by {common}." if common and len(plane.spots) > 1 else ""


def points_of_sweeps(plots: Mapping[str, Plot | NoPlot]) -> Plot | NoPlot:
    """The points of one plane of several sweeps in one plot, a series per sweep.

    Args:
        plots: From `pareto_plot`, by the names of the sweeps.

    Returns:
        The plot of the sweeps that have it; where none has, why the first does not.
    """
    made = {sweep: plot for sweep, plot in plots.items() if isinstance(plot, Plot)}
    if not made:
        return next(iter(plots.values()))
    series = tuple(_joined(sweep, plot) for sweep, plot in made.items())
    return replace(next(iter(made.values())), series=series, note=_NOTE)


def _joined(sweep: str, plot: Plot) -> PlotSeries:
    """The points of a sweep as one series, under the sweep's name."""
    points = [series for series in plot.series if series.kind == "points"]
    return PlotSeries(
        name=sweep,
        kind="points",
        x=tuple(x for series in points for x in series.x),
        y=tuple(y for series in points for y in series.y),
        low=tuple(low for series in points for low in series.low or ()),
        high=tuple(high for series in points for high in series.high or ()),
        labels=tuple(label for series in points for label in series.labels or ()),
    )


_NOTE: Final = "The figures, with 95 % intervals, are from sweep.csv; only valid runs are shown."


def _shaded(plane: Plane, region: SloRegion) -> PlotSeries:
    """The region as far as the runs reach, and a little beyond."""
    x = [plane.at(spot) for spot in plane.spots]
    y = [spot.output_tps + spot.output_margin for spot in plane.spots]
    right = _MARGIN * max(*x, region.low_x) if region.high_x is None else region.high_x
    top = _MARGIN * max(*y, region.low_y)
    return PlotSeries(
        name=SLO_REGION,
        kind="band",
        x=(region.low_x, right),
        y=(None, None),
        low=(region.low_y,) * 2,
        high=(top,) * 2,
    )


SLO_REGION: Final = "SLO region"
_MARGIN: Final = 1.1

_SQL: Final = statements.of_series()


def _series(plane: Plane, name: str, kind: Kind, spots: Sequence[Spot]) -> PlotSeries:
    y = tuple(spot.output_tps for spot in spots)
    margins = [spot.output_margin for spot in spots]
    is_point = kind == "points"
    return PlotSeries(
        name=name,
        kind=kind,
        x=tuple(plane.at(spot) for spot in spots),
        y=y,
        low=tuple(value - margin for value, margin in zip(y, margins, strict=True)) if is_point else None,
        high=tuple(value + margin for value, margin in zip(y, margins, strict=True)) if is_point else None,
        labels=tuple(spot.name for spot in spots) if is_point else None,
    )
