"""The difference between two groups of runs: runs are the sampling units, and the test is Mann-Whitney's."""

from __future__ import annotations

import math
from functools import cache
from itertools import product
from random import Random
from statistics import variance
from typing import TYPE_CHECKING, Final

from reporter.compare.compared_figure import POWER, FigureDifference, to_ratio
from rulesets.statistics import mann_whitney

if TYPE_CHECKING:
    from collections.abc import Sequence

_DRAWS: Final = 2000
"""Draws of the two groups; enough for the detectable shift to a few percent."""


def difference(
    reference: Sequence[float],
    other: Sequence[float],
    *,
    in_points: bool,
    level: float,
    level_to_find: float,
) -> FigureDifference | None:
    """The difference between two groups of runs: Hodges-Lehmann estimate, interval, and test.

    Args:
        reference: The figure of each run of the reference.
        other: Of each run of the other group.
        in_points: Whether they are shares.
        level: Of the interval.
        level_to_find: 1 minus the p that a detectable difference must be below.

    Returns:
        None where there are no figures, or a ratio is undefined.
    """
    if not reference or not other or (not in_points and min(*reference, *other) <= 0):
        return None
    first, second = (
        [value if in_points else math.log(value) for value in side] for side in (reference, other)
    )
    shift = mann_whitney.shift(first, second, level)
    low, high = (
        to_ratio(end, in_points=in_points) if math.isfinite(end) else None for end in (shift.low, shift.high)
    )
    away = detectable(len(first), len(second), round(1 - level_to_find, 12))
    spread = _deviation(first, second)
    return FigureDifference(
        by=to_ratio(shift.estimate, in_points=in_points),
        low=low,
        high=high,
        p=mann_whitney.u_test(first, second).p,
        detectable=None if away is None or spread is None else to_ratio(away * spread, in_points=in_points),
    )


@cache
def detectable(first: int, second: int, alpha: float) -> float | None:
    """The shift that the test finds in four of five comparisons of groups of these sizes.

    Where the test is exact, it is searched for with normal values drawn from a fixed seed, because the
    formula of two means (`mann_whitney.detectable`) is far too optimistic where only groups without overlap
    are significant. Beyond, that formula holds, with the test's efficiency of 3/π.

    Returns:
        In standard deviations between runs of a group; None where groups of these sizes never differ.
    """
    if max(first, second) > mann_whitney.EXACT:
        return mann_whitney.detectable(first, second, 1.0, alpha, POWER) / math.sqrt(3 / math.pi)
    least = _least_pairs(first, second, alpha)
    if least is None:
        return None
    random = Random(0)  # noqa: S311 (reproducible text, not a secret)
    draws = [
        ([random.gauss() for _ in range(first)], [random.gauss() for _ in range(second)])
        for _ in range(_DRAWS)
    ]
    # A draw is significant from the shift on that brings this many of its pairs into order.
    needed = sorted(sorted(a - b for a, b in product(*draw))[least - 1] for draw in draws)
    return max(0.0, needed[math.ceil(POWER * _DRAWS) - 1])


def _least_pairs(first: int, second: int, alpha: float) -> int | None:
    """The least number of pairs in order, the second group's value the larger, that is significant."""
    pairs = first * second
    if mann_whitney.least_p(first, second) > alpha:
        return None
    low, high = pairs // 2, pairs
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if _p(first, second, middle) <= alpha else (middle, high)
    return high


def _p(first: int, second: int, pairs: int) -> float:
    """The p of two groups without ties, by the number of pairs in order."""
    above, rest = divmod(pairs, first)
    others = [first + 1.0 + place for place in range(above)]
    if above < second:
        others += [rest - 0.5, *(-1.0 - place for place in range(second - above - 1))]
    return mann_whitney.u_test([float(rank) for rank in range(first)], others).p


def _deviation(first: Sequence[float], second: Sequence[float]) -> float | None:
    """The standard deviation between runs of a group; None where no group has two."""
    sides = [side for side in (first, second) if len(side) > 1]
    freedom = sum(len(side) - 1 for side in sides)
    if not freedom:
        return None
    return math.sqrt(sum((len(side) - 1) * variance(side) for side in sides) / freedom)
