"""Plots for a page: JSON for the drawing script, and tables for readers without JavaScript."""

from __future__ import annotations

import math
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Final

import orjson

from reporter.number_text import NOTHING, decimals, fixed
from reporter.render.html.visible import visible
from reporter.render.table import Table, headed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reporter.plots.plot_value import Axis, Plot, PlotSeries
    from reporter.render.html.curve_values import CurvePoint, LoadCurves
    from reporter.render.html.page import Plots, SessionLanes

_DIGITS: Final = 6
"""Significant digits of a point: more than a screen can show at any zoom that a page allows."""

_CUT_PCT: Final = 99
"""How far a page shows a cumulative distribution at first: the slowest 1 % would take most of the axis."""

_MOST_ROWS: Final = 40
"""Of a table: of longer series evenly spaced points."""

_UNSAFE: Final = {ord("<"): "\\u003c", ord(">"): "\\u003e", ord("&"): "\\u0026"}
"""What would end the element that the JSON is in."""


def as_json(sections: Sequence[Plots], lanes: Sequence[SessionLanes] = ()) -> str:
    """Plots, and the figures of drawn requests, as JSON that is safe inside a script element."""
    parts = {tag: of_tag for section in sections for tag, of_tag in section.parts.items()}
    lines = {name: of_plot for section in sections for name, of_plot in section.lines.items()}
    phases = next((section.phases for section in sections if section.phases), ())
    data = {
        "plots": {
            plot.name: _plot(plot) for section in sections for group in section.groups for plot in group.plots
        },
        "parts": [
            {"tag": visible(tag), "plots": {name: _plot(plot) for name, plot in of_tag.items()}}
            for tag, of_tag in parts.items()
        ],
        "lines": {
            name: [{"axis": line.axis, "at": line.bound, "label": visible(line.label)} for line in of_plot]
            for name, of_plot in lines.items()
        },
        "phases": [[visible(phase.name), _rounded(phase.start_s), _rounded(phase.end_s)] for phase in phases],
        "turns": [session.figures.requests for section in lanes for session in section.sessions],
    }
    return _safe(data)


def curves_as_json(section: LoadCurves) -> str:
    """The runs of series as JSON that is safe inside a script element."""
    return _safe(
        {
            "axes": {name: _axis(axis) for name, axis in section.axes.items()},
            "curves": [
                {"name": visible(curve.name), "points": [_curve_point(point) for point in curve.points]}
                for curve in section.curves
            ],
            "targets": section.targets,
            "planes": section.planes,
        }
    )


def _curve_point(point: CurvePoint) -> dict[str, Any]:
    values = {name: [_rounded(value) for value in of] for name, of in point.values.items()}
    return {**asdict(point), "label": visible(point.label), "run": visible(point.run), "values": values}


def _safe(data: object) -> str:
    text = orjson.dumps(data).decode()
    return text.translate(_UNSAFE).replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


def as_tables(plot: Plot) -> list[Table]:
    """A table for each series, or one table for all series with common x values."""
    by_places: dict[tuple[float | str, ...], list[PlotSeries]] = {}
    for series in plot.series:
        by_places.setdefault(series.x, []).append(series)
    return [_table(plot, together) for together in by_places.values()]


def _plot(plot: Plot) -> dict[str, Any]:
    drawn: dict[str, Any] = {
        "title": plot.title,
        "x": _axis(plot.x),
        "y": _axis(plot.y),
        "series": [_series(series) for series in plot.series],
    }
    if plot.name.endswith("-cdf"):
        drawn["upTo"] = _rounded(_p99(plot))
    return drawn


def _p99(plot: Plot) -> float:
    """Where the last series of a cumulative distribution reaches 99 %."""
    return max(
        next(float(x) for x, y in zip(series.x, series.y, strict=True) if y is not None and y >= _CUT_PCT)
        for series in plot.series
    )


def _axis(axis: Axis) -> dict[str, str]:
    return {"label": axis.label, "unit": axis.unit, "scale": axis.scale}


def _series(series: PlotSeries) -> dict[str, Any]:
    drawn: dict[str, Any] = {"name": visible(series.name), "kind": series.kind}
    if series.group is not None:
        drawn["group"] = visible(series.group)
    for name in ("x", "y", "low", "high", "labels"):
        values = getattr(series, name)
        if values is not None:
            drawn[name] = [_rounded(value) for value in values]
    return drawn


def _rounded(value: float | str | None) -> float | str | None:
    if isinstance(value, str):
        return visible(value)
    if value is None or not math.isfinite(value):
        return None
    if value == 0 or isinstance(value, int):
        return value
    shown = round(value, _DIGITS - 1 - math.floor(math.log10(abs(value))))
    return int(shown) if shown == int(shown) else shown


def _table(plot: Plot, together: list[PlotSeries]) -> Table:
    first = together[0]
    names = [_named(plot, series) for series in together]
    columns: list[str] = [plot.x.title]
    values: list[Sequence[float | str | None]] = [first.x]
    if first.kind == "bars" and first.low is not None and first.high is not None:
        columns, values = [f"{plot.x.title} from", "to"], [first.low, first.high]
    for series, name in zip(together, names, strict=True):
        columns.append(name)
        values.append(series.y)
        if series.low is not None and series.high is not None and series.kind != "bars":
            columns += [f"{name}, low", "high"]
            values += [series.low, series.high]
    if first.labels is not None:
        columns, values = ["point", *columns], [first.labels, *values]
    rows = list(zip(*values, strict=True))
    indices = _thinned(len(rows))
    caption = f"{len(indices)} of {len(rows)} points" if len(indices) < len(rows) else ""
    shown = tuple(tuple(_cell(value) for value in rows[index]) for index in indices)
    words = int(plot.x.scale == "category" or first.labels is not None)
    return Table(headed(*columns, words=words), shown, caption)


def _named(plot: Plot, series: PlotSeries) -> str:
    """The heading of a series: the name, unless equal to the axis's, and the unit."""
    unit = f" [{plot.y.unit}]" if plot.y.unit else ""
    group = f", {series.group}" if series.group is not None else ""
    return f"{series.name}{group}{unit}"


def _thinned(count: int) -> list[int]:
    if count <= _MOST_ROWS:
        return list(range(count))
    step = (count - 1) / (_MOST_ROWS - 1)
    return [round(number * step) for number in range(_MOST_ROWS)]


def _cell(value: float | str | None) -> str:
    if isinstance(value, str):
        return value
    if value is None or not math.isfinite(value):
        return NOTHING
    return fixed(value, 0 if isinstance(value, int) else decimals(value, 4))
