"""The Pareto front of a sweep: a step function through the points, without interpolation.

mlcommons/endpoints_policies, endpoints_rules.md §4.1; InferenceX-app docs/pareto-api.md. A point shows that
what it reached can be had, and so less of either; what lies between two points is not measured.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from rulesets.evaluators.rule_row import figure_text
from rulesets.evaluators.targets import AGAIN
from rulesets.sweeps.point import FigureAxis, standing
from rulesets.sweeps.sweep_row import SweepRule

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from rulesets.evaluators.rule_row import VerdictRow
    from rulesets.sweeps.point import End, Point

Spot = tuple[float, float]
"""Where a point lies: x and y, of both of which more is better."""

_SHOWN = 6
"""How many spots of a front a row lists."""


def front(spots: Sequence[Spot]) -> list[Spot]:
    """Those that no other beats in one and ties or beats in the other, by rising x."""
    on_front: list[Spot] = []
    for spot in sorted(set(spots), reverse=True):
        if not on_front or spot[1] > on_front[-1][1]:
            on_front.append(spot)
    return on_front[::-1]


def step(spots: Sequence[Spot], x: float) -> float | None:
    """The greatest y that was shown at no less than some x; None beyond the last."""
    return max((y for spot_x, y in spots if spot_x >= x), default=None)


def rows(
    settings: Mapping[str, Any], points: Sequence[Point], baseline: Sequence[Point]
) -> Iterator[VerdictRow]:
    """Judge whether a front exists, and whether the front dominates the baseline's.

    Args:
        settings: `x`, `y`, and `must_dominate` where it must.
        points: All of them.
        baseline: Those of the other sweep.
    """
    x, y = FigureAxis.of(settings["x"]), FigureAxis.of(settings["y"])
    ours = _spots(points, x, y)
    yield _front_row(x, y, ours, points, severity_counts="must_dominate" in settings)
    if "must_dominate" in settings:
        row = _dominates(f"{y} at each {x}", ours, front(_spots(baseline, x, y)), len(baseline))
        # Ours at the least and theirs at the most that they can be, and the other way round.
        ends: tuple[tuple[End, End], ...] = (("low", "high"), ("high", "low"))
        extremes = [
            _dominates("", _spots(points, x, y, our), front(_spots(baseline, x, y, their)), len(baseline))
            for our, their in ends
        ]
        yield row if {extreme.status for extreme in extremes} == {row.status} else _in_doubt(row, extremes)


def _in_doubt(row: VerdictRow, extremes: Sequence[VerdictRow]) -> VerdictRow:
    """The row, inconclusive if late reads of chunks can decide the outcome."""
    low, high = (figure_text(extreme.observed or 0.0, 1) for extreme in extremes)
    reason = f"the client was too busy to tell: the worst ratio is between {low} and {high}"
    return replace(row, status="INCONCLUSIVE", reason=reason, remedy=AGAIN)


def _spots(points: Sequence[Point], x: FigureAxis, y: FigureAxis, end: End | None = None) -> list[Spot]:
    laid = [(x.figure(point, end), y.figure(point, end)) for point in standing(points)]
    return [(across, up) for across, up in laid if across is not None and up is not None]


def _front_row(
    x: FigureAxis, y: FigureAxis, ours: Sequence[Spot], points: Sequence[Point], *, severity_counts: bool
) -> VerdictRow:
    """The row of a front, for display; without a front, the requested figure was not measured."""
    line = front(ours)
    shown = "; ".join(f"{figure_text(across)} at {figure_text(up)}" for across, up in line[:_SHOWN])
    more = f" and {len(line) - _SHOWN} more" if len(line) > _SHOWN else ""
    rule = SweepRule(
        "pareto",
        f"front of {y} against {x}",
        severity="fail" if severity_counts or not line else "info",
        method=f"step function, no interpolation; {x} at {y}: {shown}{more}" if line else "step function",
    )
    if line:
        return rule.met(len(ours), len(line))
    stand = standing(points)
    remedy = "measure again what is invalid: see each point" if points and not stand else ""
    if y.metric == "tps_per_gpu" and stand and not any(y.figure(point) for point in stand):
        remedy = "measure with the number of GPUs that serve the model: --gpus N"
    return rule.missed(0, f"none of {len(points)} points is valid and has both {x} and {y}", remedy)


def _dominates(what: str, ours: Sequence[Spot], theirs: Sequence[Spot], of: int) -> VerdictRow:
    rule = SweepRule(
        "pareto.must_dominate",
        f"{what} of the baseline's front, ours / its >= 1",
        1,
        method="the worst of the baseline's front; ours: the best point at no less of x",
    )
    if not theirs:
        had = "has no valid point with both figures" if of else "was not given"
        return rule.missed(0, f"the baseline {had}", "give a sweep to compare with: --baseline FOLDER")
    shares = [((step(ours, x) or 0.0) / y, x, y) for x, y in theirs]
    worst, x, y = min(shares)
    if worst >= 1:
        return rule.met(len(theirs), worst)
    best = step(ours, x)
    reached = "no point of ours gets there" if best is None else f"ours gives {figure_text(best, y)} there"
    return rule.missed(
        len(theirs),
        f"the baseline gives {figure_text(y, best)} at {figure_text(x)}, and {reached}",
        observed=worst,
    )
