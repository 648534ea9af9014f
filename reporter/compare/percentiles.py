"""The difference between a percentile of two single runs, by how many values each has below one threshold."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from reporter.compare.compared_figure import critical
from reporter.compare.difference import POWER, FigureDifference
from rulesets.statistics import two_percentiles

if TYPE_CHECKING:
    from fractions import Fraction

    from reporter.compare.compared_figure import ComparedFigure


def difference(
    reference: ComparedFigure, other: ComparedFigure, p: Fraction, *, level: float, level_to_find: float
) -> FigureDifference | None:
    """The ratio of two percentiles, with Mood's test and the matching interval.

    Args:
        reference: The percentile of the reference.
        other: The percentile of the other run.
        p: Which percentile, as a share.
        level: Of the interval.
        level_to_find: Of the interval that a detectable difference must be outside of.

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
