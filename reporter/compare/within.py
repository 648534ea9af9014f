"""The difference between two single runs, by the scatter inside each run."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

from lazy_dataclasses import dataclass
from reporter.compare.compared_figure import POWER, FigureDifference, critical, to_ratio
from rulesets.statistics import normal, student, two_percentiles

if TYPE_CHECKING:
    from fractions import Fraction

    from reporter.compare.compared_figure import ComparedFigure

_MANY: Final = 10_000
"""From this many degrees of freedom on, Student's distribution is the normal one, to four digits of t."""


def difference(
    reference: ComparedFigure, other: ComparedFigure, *, in_points: bool, level: float, level_to_find: float
) -> FigureDifference | None:
    """The difference between the figures of two runs.

    The interval is made of the figures' own (MOVER: G. Y. Zou and A. Donner, "Construction of confidence
    limits about effect measures", Statistics in Medicine 27, 2008), so that it is as lopsided as they are;
    with Welch's degrees of freedom (B. L. Welch, "The generalization of Student's problem when several
    different population variances are involved", Biometrika 34, 1947), but no fewer than twice the smaller
    number: where the runs do not differ, each says how values scatter, as in Student's own test. p is 1 minus
    the level of the interval that 0 would be the end of.

    Returns:
        None where a ratio is undefined.
    """
    if not in_points and (reference.value <= 0 or other.value <= 0):
        return None
    by = other.value - reference.value if in_points else math.log(other.value / reference.value)
    down = _together(other, reference, other.below, reference.above)
    up = _together(other, reference, other.above, reference.below)
    towards_zero = down if by > 0 else up
    low, high = by - down.reach(level), by + up.reach(level)
    return FigureDifference(
        by=to_ratio(by, in_points=in_points),
        low=to_ratio(low, in_points=in_points) if math.isfinite(low) else None,
        high=to_ratio(high, in_points=in_points) if math.isfinite(high) else None,
        p=towards_zero.chance(by),
        detectable=_detectable(
            max(down, up, key=lambda error: error.size), level_to_find, in_points=in_points
        ),
    )


@dataclass(frozen=True, slots=True)
class _Error:
    """A standard error with degrees of freedom; None for many."""

    size: float
    freedom: float | None

    def reach(self, level: float) -> float:
        """Half of an interval of that level."""
        return self.size * critical(level, self.freedom)

    def chance(self, by: float) -> float | None:
        """The chance of a difference of at least that size."""
        if not math.isfinite(self.size):
            return None
        if not self.size:
            return float(not by)
        away = abs(by) / self.size
        return 2 * normal.cdf(-away) if self.freedom is None else 1 - student.within(away, self.freedom)


def _together(other: ComparedFigure, reference: ComparedFigure, a: float, b: float) -> _Error:
    size = math.hypot(a, b)
    parts = [
        (error, figure.freedom)
        for error, figure in ((a, other), (b, reference))
        if figure.freedom is not None
    ]
    squares = sum(error**4 / freedom for error, freedom in parts)
    if not squares or not math.isfinite(size):
        return _Error(size, None)
    freedom = size**4 / squares
    if len(parts) > 1:
        freedom = max(freedom, 2 * min(of_one for _, of_one in parts))
    return _Error(size, freedom if freedom < _MANY else None)


def _detectable(error: _Error, level: float, *, in_points: bool) -> float | None:
    """The detectable difference: t of the test and t of the power, in standard errors."""
    if not math.isfinite(error.size):
        return None
    reach = error.reach(level) + error.size * critical(2 * POWER - 1, error.freedom)
    return to_ratio(reach, in_points=in_points)


def percentile_difference(
    reference: ComparedFigure, other: ComparedFigure, p: Fraction, *, level: float, level_to_find: float
) -> FigureDifference | None:
    """The ratio of two percentiles, with Mood's test and the matching interval.

    Returns:
        None where the order of the values in time is unknown, or a ratio is undefined. Without p, and
        with the number of requests that it takes, where there are too few.
    """
    if reference.ordered is None or other.ordered is None or reference.value <= 0:
        return None
    by = other.value / reference.value
    ratio = two_percentiles.compare(reference.ordered, other.ordered, p, level)
    # Where percentiles are interpolated they can lie outside of an interval whose ends are values.
    low = None if ratio.low is None else min(ratio.low, by)
    high = None if ratio.high is None else max(ratio.high, by)
    wide = None if low is None or high is None else math.log(max(by / low, high / by))
    reach = (critical(level_to_find, None) + critical(2 * POWER - 1, None)) / critical(level, None)
    return FigureDifference(
        by=by - 1,
        low=None if low is None else low - 1,
        high=None if high is None else high - 1,
        p=ratio.p,
        detectable=None if wide is None or ratio.p is None else math.expm1(reach * wide),
        needed=None if ratio.p is not None else _needed(reference, other, p, 1 - level),
    )


def _needed(reference: ComparedFigure, other: ComparedFigure, p: Fraction, alpha: float) -> int | None:
    """How many requests a run would need, each counting for as many independent ones as now."""
    fewest = two_percentiles.fewest(p, alpha)
    if fewest is None:
        return None
    return max(math.ceil(fewest * side.n / max(1, side.effective or 1)) for side in (reference, other))
