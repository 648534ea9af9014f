"""The region of a sweep's plane in which the targets are met, for shading."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from rulesets.errors import ExpressionError
from rulesets.expression import parse

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from reporter.plots.planes import Plane
    from rulesets.target import Target
    from rulesets.verdict import VerdictRow

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

    Args:
        plane: The runs on it.
        verdicts: The rows of each run's verdict, by the names of runs.
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
    """A bound of the plane's own figure: of a rate as tokens/s, which a TPOT is the inverse of."""
    is_time = target.op not in _UPWARDS
    return 1e3 / target.bound if plane.is_rate and is_time and target.bound else target.bound
