"""Whether two groups of runs differ, whatever the distribution: the Mann-Whitney U test.

H. B. Mann and D. R. Whitney, "On a test of whether one of two random variables is stochastically larger than
the other", Annals of Mathematical Statistics 18, 1947. Of every pair with one value from each group, U counts
those in which the second is larger, and ties for a half.

Up to 25 a side p is exact, ties included: the share of all ways to divide the values as they are into the two
groups (the permutation distribution, as benchstat has it) that give a U as extreme. The ways are counted by
the generating function Π (1 + y x^rank), the ranks of ties being their mean: E. L. Lehmann, Nonparametrics
(1975), 1.4. Beyond, U is taken for normal, with the variance that ties leave and a correction for continuity.
"""

from __future__ import annotations

import math
from collections import Counter
from statistics import median
from typing import TYPE_CHECKING, Final, Literal, cast

from lazy_dataclasses import dataclass
from rulesets.statistics.normal import cdf, quantile
from rulesets.statistics.probability import proper
from rulesets.statistics.smallest import smallest

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rulesets.statistics.probability import Probability

EXACT: Final = 25
"""How many values a side at most are tested exactly."""


@dataclass(frozen=True, slots=True)
class UTest:
    """The result of the test.

    Attributes:
        u: Pairs in which the second group's value is larger; ties count for a half.
        p: The probability, both ways, of a U as extreme where the groups do not differ.
        method: How p was computed.
    """

    u: float
    p: float
    method: Literal["exact", "normal"]


@dataclass(frozen=True, slots=True)
class Shift:
    """By how much the second group is larger, in the values' unit.

    Attributes:
        estimate: The median over all pairs of the second group's value less the first's: J. L. Hodges and
            E. L. Lehmann, Annals of Mathematical Statistics 34, 1963.
        low: The lower end of the interval; minus infinity where so few values cannot tell.
        high: The upper end; infinity where so few values cannot tell.
    """

    estimate: float
    low: float
    high: float


def u_test(first: Sequence[float], second: Sequence[float], *, exact: bool | None = None) -> UTest:
    """Test two groups of at least one value each, both ways.

    Args:
        first: Infinity is larger than all; not-a-number is not a value.
        second: As above.
        exact: None for whatever their size allows.
    """
    ranks = _doubled_ranks([*first, *second])
    doubled = sum(ranks[len(first) :]) - len(second) * (len(second) + 1)
    if exact is None:
        exact = max(len(first), len(second)) <= EXACT
    p = (
        _exact(ranks, len(second), sum(ranks[len(first) :]))
        if exact
        else _normal(ranks, len(second), doubled)
    )
    return UTest(doubled / 2, p, "exact" if exact else "normal")


def shift(first: Sequence[float], second: Sequence[float], level: Probability) -> Shift:
    """By how much the second group is larger, with an interval of that level: that of all pairs' differences.

    Of the logarithms of values it is the logarithm of a ratio. The ranks of the ends are those of U without
    ties, which makes the interval no narrower where there are some: D. F. Bauer, "Constructing confidence
    sets using rank statistics", J. Am. Stat. Assoc. 67, 1972.

    Args:
        first: At least one finite value.
        second: As above.
        level: The coverage to have at least.
    """
    apart = sorted(other - first_value for first_value in first for other in second)
    left_out = _left_out(len(first), len(second), float((1 - proper(level)) / 2))
    if not left_out:
        return Shift(median(apart), -math.inf, math.inf)
    return Shift(median(apart), apart[left_out - 1], apart[-left_out])


def least_p(first: int, second: int) -> float:
    """The least p that groups of these sizes can have: 2 / (first + second choose first), at most 1."""
    return min(1.0, 2 / math.comb(first + second, first))


def fewest(alpha: Probability) -> int:
    """The fewest values a side with which the test can be significant at all."""
    limit = float(proper(alpha))
    return cast("int", smallest(lambda values: least_p(values, values) <= limit))


def detectable(
    first: int,
    second: int,
    deviation: float,
    alpha: Probability = 0.05,
    power: Probability = 0.8,
) -> float:
    """The difference that groups of these sizes show with that power, in the unit of the deviation.

    (z_{1-alpha/2} + z_power) s √(1/n + 1/m), of two means of normal values: J. Cohen, Statistical Power
    Analysis (2nd ed., 1988), chapter 2. The rank test needs about 5 % more values (its efficiency is 3/π),
    very few a side many more, and it finds nothing at all where `least_p` exceeds alpha.

    Args:
        first: Values in the first group, at least 1.
        second: Values in the second.
        deviation: Their standard deviation; relative to the mean, for a relative difference.
        alpha: At which p the test calls a difference significant.
        power: How often it is to find it.
    """
    both = quantile(float(1 - proper(alpha) / 2)) + quantile(float(proper(power)))
    return both * deviation * math.sqrt(1 / first + 1 / second)


def _doubled_ranks(values: Sequence[float]) -> list[int]:
    """Twice the rank of each value, from 1; ties share the mean rank, and twice a mean is whole."""
    ranks: dict[float, int] = {}
    below = 0
    for value, often in sorted(Counter(values).items()):
        ranks[value] = 2 * below + often + 1
        below += often
    return [ranks[value] for value in values]


def _exact(ranks: Sequence[int], size: int, observed: int) -> float:
    """Twice the smaller tail, at most 1: the share of divisions with such a sum of ranks.

    The sums a smaller group can have are as telling, and fewer.
    """
    if 2 * size > len(ranks):
        return _exact(ranks, len(ranks) - size, sum(ranks) - observed)
    ways = _ways(ranks, size)
    tail = min(sum(ways[: observed + 1]), sum(ways[observed:]))
    return min(1.0, 2 * tail / sum(ways))


def _ways(ranks: Sequence[int], size: int) -> list[int]:
    """The number of subsets of the ranks for each sum.

    A polynomial in x is one large number here, its coefficients lying side by side in fields wide enough for
    the largest; to multiply by x^rank is to shift.
    """
    width = math.comb(len(ranks), size).bit_length()
    chosen = [1] + [0] * size
    for rank in ranks:
        for many in range(size, 0, -1):
            chosen[many] += chosen[many - 1] << (rank * width)
    field = (1 << width) - 1
    return [chosen[size] >> (total * width) & field for total in range(sum(sorted(ranks)[-size:]) + 1)]


def _normal(ranks: Sequence[int], size: int, doubled: int) -> float:
    """Twice the smaller tail by the normal approximation: Lehmann (1975), 1.3 and, with ties, 1.4."""
    count = len(ranks)
    pairs = size * (count - size)
    ties = sum(often**3 - often for often in Counter(ranks).values())
    variance = pairs / 12 * (count + 1 - ties / (count * (count - 1)))
    distance = max(0.0, abs(doubled - pairs) / 2 - 0.5)
    return min(1.0, 2 * cdf(-distance / math.sqrt(variance))) if variance else 1.0


def _left_out(first: int, second: int, doubt: float) -> int:
    """The largest k with P(U < k) ≤ doubt, of U without ties."""
    if max(first, second) > EXACT:
        spread = math.sqrt(first * second * (first + second + 1) / 12)
        return max(0, math.floor(first * second / 2 + quantile(doubt) * spread))
    ways = _ways(range(1, first + second + 1), second)[second * (second + 1) // 2 :]
    total, below, k = sum(ways), 0, 0
    while (below := below + ways[k]) <= doubt * total:
        k += 1
    return k
