"""Runs of series on axes that the reader chooses: loads, throughputs and latencies against each other."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

from reporter import statements
from reporter.json_values import number
from reporter.plots.pareto import FRONT, INTERACTIVITY, KNEE, TTFT
from reporter.plots.plot_value import Axis, Plot
from reporter.render.console_page import clean
from reporter.render.html.curve_values import CurvePoint, LoadCurve, LoadCurves
from rulesets.errors import ExpressionError
from rulesets.expression import parse

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from reporter.render.series_overview import SeriesOverview

_LOADS: Final = {"concurrency": "", "rate": "req/s"}
"""The axes of a series that are a load, with their units."""

_FIGURES: Final[Mapping[str, Axis]] = {
    "output_tps": Axis("output tok/s", ""),
    "total_tps": Axis("input and output tok/s", ""),
    "qps": Axis("req/s", ""),
    "user_tps": Axis("output tok/s per user", ""),
    "ttft_p50_ms": Axis("TTFT p50", "ms"),
    "ttft_p99_ms": Axis("TTFT p99", "ms"),
    "tpot_p50_ms": Axis("TPOT p50", "ms"),
    "tpot_p99_ms": Axis("TPOT p99", "ms"),
    "latency_p50_ms": Axis("latency p50", "ms"),
    "latency_p99_ms": Axis("latency p99", "ms"),
    "error_rate": Axis("errors", "%"),
}
_PERCENT: Final = 100
_FEWEST: Final = 2
_PLANES: Final = {INTERACTIVITY: "user_tps", TTFT: "ttft_p50_ms"}
"""By planes, the figure that the throughput is paid with."""


def section(overviews: Sequence[SeriesOverview]) -> LoadCurves | None:
    """The runs of series over each other; None where fewer than two runs have a figure on both axes."""
    axes = {**_load_axes(overviews), **_FIGURES}
    curves = tuple(curve for of in overviews for curve in _curves(of, axes, is_named=len(overviews) > 1))
    points = [point for curve in curves for point in curve.points]
    axes = {name: axis for name, axis in axes.items() if sum(name in of.values for of in points) >= _FEWEST}
    targets = tuple(_targets(overviews, axes))
    x = next((name for name in ("output_tps", "qps") if name in axes), None)
    wanted = (*(figure for figure, *_ in targets), "ttft_p50_ms", "latency_p50_ms")
    y = next((name for name in wanted if name in axes and name.endswith("_ms")), None)
    if x is None or y is None:
        return None
    return LoadCurves(
        "curves", "Curves", axes, curves, targets, (x, y), _of_planes(overviews), statements.of_series()
    )


def _load_axes(overviews: Sequence[SeriesOverview]) -> Mapping[str, Axis]:
    """The axes of the series that are varied and have numbers."""
    rows = [row["axes"] for of in overviews for row in of.rows]
    names = dict.fromkeys(name for row in rows for name in row)
    return {
        name: Axis(clean(name), _LOADS.get(name, ""))
        for name, values in ((name, [row.get(name) for row in rows]) for name in names)
        if len(set(values)) >= _FEWEST and None not in map(number, values)
    }


def _curves(series: SeriesOverview, axes: Mapping[str, Axis], *, is_named: bool) -> Iterator[LoadCurve]:
    """Runs that differ in the load alone, in the order of the load."""
    varied = [name for name in axes if name not in _FIGURES]
    load = next((name for name in _LOADS if name in varied), varied[0] if varied else "")
    curves: dict[str, list[CurvePoint]] = {}
    pairs = zip(series.rows, series.results, strict=True)
    for row, result in sorted(pairs, key=lambda pair: pair[0]["axes"].get(load) or 0):
        others = {name: of for name, of in row["axes"].items() if name not in {load, "trial"}}
        name = ", ".join(f"{clean(of)} {clean(value)}" for of, value in others.items())
        curves.setdefault(name, []).append(_point(series, row, result, load))
    for name, points in curves.items():
        names = ([clean(series.name)] if is_named else []) + ([name] if name else [])
        yield LoadCurve(", ".join(names) or clean(series.kind), tuple(points))


def _point(series: SeriesOverview, row: Mapping[str, Any], result: str, load: str) -> CurvePoint:
    folder = str(row["folder"])
    label = f"{row['axes'][load]:g}" if load in row["axes"] else clean(row["name"])
    loads = {name: (value, None, None) for name, value in row["axes"].items() if number(value) is not None}
    stands = row["valid"] or row["accepted"]
    return CurvePoint(
        label=label,
        run=clean(folder),
        values={**loads, **{name: of for name in _FIGURES if (of := _figure(row, name)) is not None}},
        result="" if not stands else "meets its targets" if result == "pass" else clean(result),
        is_valid=stands,
        warnings=tuple(map(clean, row["warnings"])),
        link=series.links.get(folder, ""),
    )


def _figure(row: Mapping[str, Any], name: str) -> tuple[float, float | None, float | None] | None:
    """A figure of a run with the ends of the 95 % interval, or None for an unknown end."""
    value = row[name]
    if value is None:
        return None
    if name == "error_rate":
        return _PERCENT * value, None, None
    if name == "user_tps":
        tpot_ms, margin_ms = row["tpot_p50_ms"], row["tpot_p50_margin_ms"] or 0.0
        ends = sorted(1e3 / of for of in (tpot_ms - margin_ms, tpot_ms + margin_ms) if of > 0)
        return (value, ends[0], ends[1]) if margin_ms and len(ends) == _FEWEST else (value, None, None)
    margin = row.get(f"{name.removesuffix('_ms')}_margin{'_ms' if name.endswith('_ms') else ''}")
    return (value, None, None) if margin is None else (value, value - margin, value + margin)


def _targets(
    overviews: Sequence[SeriesOverview], axes: Mapping[str, Axis]
) -> Iterator[tuple[str, str, float, str]]:
    """The targets on figures that are axes: the figure, the relation, the bound, and the target."""
    for text in dict.fromkeys(text for of in overviews for text in of.targets):
        with suppress(ExpressionError):
            target = parse(text)
            names = (target.metric, f"{target.metric}_{target.stat}_ms", f"{target.metric}_{target.stat}")
            name = next((name for name in names if name in axes), None)
            if name is not None and not (target.where or target.delta):
                scale = _PERCENT if name == "error_rate" else 1
                yield name, target.op, scale * target.bound, clean(text)


def _of_planes(overviews: Sequence[SeriesOverview]) -> Mapping[str, Mapping[str, tuple[str, ...]]]:
    """The Pareto front and the knee of one sweep against each figure: the names of runs."""
    if len(overviews) > 1:
        return {}
    plots = {plot.name: plot for plot in overviews[0].plots if isinstance(plot, Plot)}
    folders = {row["name"]: clean(row["folder"]) for row in overviews[0].rows}
    return {
        figure: {
            series.name: tuple(folders[label] for label in series.labels or () if label in folders)
            for series in plots[f"pareto-{plane}"].series
            if series.name in {FRONT, KNEE}
        }
        for plane, figure in _PLANES.items()
        if f"pareto-{plane}" in plots
    }
