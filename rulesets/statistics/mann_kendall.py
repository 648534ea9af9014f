"""Trend of figures over time, whatever the distribution: the Mann-Kendall test.

H. B. Mann, "Nonparametric tests against trend", Econometrica 13, 1945; M. G. Kendall, Rank Correlation
Methods (1975). Of every two figures, S counts +1 where the later one is larger and -1 where it is smaller.
The test takes the figures for independent but for the trend: give it the means of long spans.

Up to 50 figures p is exact, ties included: of all orders of the figures as they are, those with an S as
extreme. The orders with each number of inversions are counted by the generating function, which is a Gaussian
multinomial: R. P. Stanley, Enumerative Combinatorics 1 (2nd ed., 2011), 1.7.1. Beyond, S is taken for normal,
with the variance that ties leave and a correction for continuity. With four figures the normal p of a perfect
trend is 0.089 and the exact one 0.083: nothing there is ever significant at 5 %.
"""

from __future__ import annotations

import math
from collections import Counter
from itertools import combinations
from statistics import median
from typing import TYPE_CHECKING, Final, Literal

from lazy_dataclasses import dataclass
from rulesets.statistics.normal import cdf

if TYPE_CHECKING:
    from collections.abc import Sequence

EXACT: Final = 50
"""How many figures at most are tested exactly."""


@dataclass(frozen=True, slots=True)
class Trend:
    """The result of the test.

    Attributes:
        s: Pairs that rise less pairs that fall.
        p: The probability, both ways, of an S as extreme where there is no trend.
        slope: The median of all pairs' slopes, in the figures' unit a step: P. K. Sen, "Estimates of the
            regression coefficient based on Kendall's tau", J. Am. Stat. Assoc. 63, 1968, after H. Theil.
        method: How p was computed.
    """

    s: int
    p: float
    slope: float
    method: Literal["exact", "normal"]


def trend(values: Sequence[float], *, exact: bool | None = None) -> Trend | None:
    """Test figures at equal steps of time, in order, both ways.

    Args:
        values: Finite.
        exact: None for whatever their number allows.

    Returns:
        None with fewer than three: two are a trend, whatever they are.
    """
    if len(values) <= 2:  # noqa: PLR2004 (as the docstring says)
        return None
    pairs = [(later - earlier, j - i) for (i, earlier), (j, later) in combinations(enumerate(values), 2)]
    s = sum((change > 0) - (change < 0) for change, _ in pairs)
    if exact is None:
        exact = len(values) <= EXACT
    ties = list(Counter(values).values())
    return Trend(
        s=s,
        p=_exact(s, ties) if exact else _normal(s, ties),
        slope=median(change / steps for change, steps in pairs),
        method="exact" if exact else "normal",
    )


def _exact(s: int, ties: Sequence[int]) -> float:
    """The share of orders with an S as far from 0, S being the untied pairs less twice the inversions."""
    orders = _orders(ties)
    untied = len(orders) - 1
    far = sum(ways for inversions, ways in enumerate(orders) if abs(untied - 2 * inversions) >= abs(s))
    return far / sum(orders)


def _orders(ties: Sequence[int]) -> list[int]:
    """The number of orders for each number of inversions: Π (1 - x^i) of all, divided by that of each tie."""
    product, count = [1], 0
    for tied in ties:
        for i in range(1, tied + 1):
            count += 1
            product = _quotient(_times(product, count), i)
    return product


def _times(polynomial: list[int], power: int) -> list[int]:
    """Times 1 - x^power."""
    shifted = [0] * power + polynomial
    return [term - other for term, other in zip(polynomial + [0] * power, shifted, strict=True)]


def _quotient(polynomial: list[int], power: int) -> list[int]:
    """The exact quotient by 1 - x^power."""
    quotient = list(polynomial)
    for power_index in range(power, len(quotient)):
        quotient[power_index] += quotient[power_index - power]
    return quotient[: len(quotient) - power]


def _normal(s: int, ties: Sequence[int]) -> float:
    """By the normal approximation: Kendall (1975), chapter 4."""
    count = sum(ties)
    variance = (_spread(count) - sum(map(_spread, ties))) / 18
    distance = max(0, abs(s) - 1)
    return min(1.0, 2 * cdf(-distance / math.sqrt(variance))) if variance else 1.0


def _spread(count: int) -> int:
    return count * (count - 1) * (2 * count + 5)
