"""The runs of a sweep as points: throughput against a latency, the Pareto front and the knee."""

from __future__ import annotations

from itertools import takewhile
from typing import TYPE_CHECKING, Final

from lazy_dataclasses import dataclass
from reporter import statements
from reporter.pareto_front import Spot, clear_front, knee
from reporter.plots.plot_value import Axis, NoPlot, Plot, PlotSeries
from rulesets.errors import ExpressionError
from rulesets.expression import parse

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from reporter.plots.plot_value import Kind
    from reporter.run_row import Figures
    from rulesets.target import Target
    from rulesets.verdict import VerdictRow


@dataclass(frozen=True, slots=True)
class Plane:
    """Runs by throughput and one latency.

    Attributes:
        name: `interactivity` or `ttft`.
        latency: The latency that the throughput is paid with, as a table calls it.
        figure: The figure of a row that is the other axis.
        spots: The runs that have both figures, in their order.
    """

    name: str
    latency: str
    figure: str
    axis: Axis
    spots: tuple[Spot, ...]

    @property
    def is_rate(self) -> bool:
        """Whether the axis shows tok/s, 1000 / the latency in ms, of which more is better."""
        return self.name == INTERACTIVITY

    def at(self, spot: Spot) -> float:
        """The place of a spot on the axis, in tok/s or in ms."""
        return 1e3 / spot.cost_ms if self.is_rate else spot.cost_ms


INTERACTIVITY: Final = "interactivity"
TTFT: Final = "ttft"


def planes(runs: Sequence[tuple[str, Figures]]) -> tuple[Plane, Plane]:
    """Lay runs on both planes.

    Args:
        runs: Those that are valid, by name, in the order of their load.
    """
    return (
        Plane(
            INTERACTIVITY,
            "TPOT p50",
            "user_tps",
            Axis("interactivity: output tokens of a user, 1000 / median TPOT", "tok/s"),
            _spots(runs, "tpot_p50"),
        ),
        Plane(TTFT, "TTFT p50", "ttft_p50_ms", Axis("median TTFT", "ms"), _spots(runs, "ttft_p50")),
    )


def _spots(runs: Sequence[tuple[str, Figures]], latency: str) -> tuple[Spot, ...]:
    spots = []
    for name, of in runs:
        cost_ms, margin_ms = getattr(of, f"{latency}_ms"), getattr(of, f"{latency}_margin_ms")
        if of.output_tps and cost_ms:
            margins = (of.output_tps_margin or 0.0, margin_ms or 0.0)
            spots.append(Spot(name, of.output_tps, cost_ms, *margins, requests=of.requests))
    return tuple(spots)


FRONT: Final = "Pareto front"
KNEE: Final = "knee"


def pareto_plot(
    plane: Plane, passing: Collection[str] = (), region: SloRegion | None = None
) -> Plot | NoPlot:
    """Make the plot of a plane."""
    name = f"pareto-{plane.name}"
    title = f"Throughput against {plane.axis.label.partition(':')[0]}"
    if not plane.spots:
        return NoPlot(name, title, f"no run is valid and has both a throughput and a {plane.latency}")
    line, bend = clear_front(plane.spots), knee(plane.spots).spot
    kinds = {
        spot: KNEE
        if spot == bend
        else "meets its targets"
        if spot.name in passing
        else FRONT
        if spot in line
        else "run"
        for spot in plane.spots
    }
    series = [
        *([] if region is None else [_shaded(plane, region)]),
        *([_series(plane, FRONT, "line", line)] if line else []),
        *(
            _series(plane, kind, "points", [spot for spot in plane.spots if kinds[spot] == kind])
            for kind in dict.fromkeys(kinds.values())
        ),
    ]
    return Plot(
        name=name,
        title=title,
        x=plane.axis,
        y=Axis("throughput: output tokens", "tok/s"),
        series=tuple(series),
        sql=_SQL,
        note=" ".join(filter(None, (_NOTE, _named(plane), "" if region is None else region.note))),
    )


def _named(plane: Plane) -> str:
    """The common prefix of the names of all runs, which the points of a page leave out."""
    words = zip(*(spot.name.split("-") for spot in plane.spots), strict=False)
    common = "-".join(word for word, *_ in takewhile(lambda column: len(set(column)) == 1, words))
    return f"Points are named by {common}." if common and len(plane.spots) > 1 else ""


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


THROUGHPUT: Final = "output_tps"
_MEDIAN: Final = "p50"
_UPWARDS: Final = frozenset({">", ">="})


@dataclass(frozen=True, slots=True)
class SloRegion:
    """The region of a plane in which the targets on both axes are met.

    Attributes:
        low_x: The least value on the horizontal axis; 0 without a bound.
        high_x: The greatest; None without a bound.
        low_y: The least throughput; 0 without a bound.
        note: Where its edges are from.
    """

    low_x: float
    high_x: float | None
    low_y: float
    note: str


def slo_region(plane: Plane, verdicts: Mapping[str, Sequence[VerdictRow]]) -> SloRegion | None:
    """The region of the targets of a sweep; None where none concerns the plane's axes, or no run met one.

    A target of the plane's own figures is an edge. Of another statistic of the same metric, such as a TTFT
    p99, the edge is the last run that met it: the axis does not show where between two runs it lies.
    """
    x_edges: list[float] = []
    y_edges: list[float] = []
    notes = []
    for text, target in _targets(verdicts):
        if target.metric == THROUGHPUT:
            y_edges.append(target.bound)
            notes.append(text)
        elif target.metric in _METRICS[plane.name]:
            is_edge = target.stat == _MEDIAN
            met = [plane.at(spot) for spot in plane.spots if _is_met(verdicts.get(spot.name, ()), text)]
            if not is_edge and not met:
                return None
            farthest = min(met, default=0.0) if plane.is_rate else max(met, default=0.0)
            x_edges.append(_on_axis(plane, target) if is_edge else farthest)
            notes.append(text if is_edge else f"{text} (to the last run that met it)")
    if not notes:
        return None
    low_x, high_x = (max(x_edges, default=0.0), None) if plane.is_rate else (0.0, min(x_edges, default=None))
    return SloRegion(low_x, high_x, max(y_edges, default=0.0), f"SLO region: {', '.join(notes)}.")


_METRICS: Final[Mapping[str, frozenset[str]]] = {
    "interactivity": frozenset({"tpot", "tps_per_user"}),
    "ttft": frozenset({"ttft"}),
}
"""By planes, the metrics that their horizontal axes are of."""


def _targets(verdicts: Mapping[str, Sequence[VerdictRow]]) -> Iterator[tuple[str, Target]]:
    """The failing targets on all requests, each once, in the original notation."""
    texts = {
        row.target: None
        for rows in verdicts.values()
        for row in rows
        if row.group == "target" and row.severity == "fail"
    }
    for text in texts:
        try:
            target = parse(text)
        except ExpressionError:
            continue
        if not target.delta and not target.where:
            yield text, target


def _is_met(rows: Sequence[VerdictRow], text: str) -> bool:
    return any(row.target == text and row.status == "PASS" for row in rows)


def _on_axis(plane: Plane, target: Target) -> float:
    """A bound of the plane's own figure: of a rate as tok/s, which a TPOT is the inverse of."""
    is_time = target.op not in _UPWARDS
    return 1e3 / target.bound if plane.is_rate and is_time and target.bound else target.bound
