"""Whether a percentile of two samples differs, and by which ratio: Mood's test, exact.

Take the lowest K of all values of both samples, K being the share p of them. Where the percentile does not
differ, the number of them that is from the second sample is hypergeometric; for p = 1/2 that is the median
test of G. W. Brown and A. M. Mood ("On median tests for linear hypotheses", Second Berkeley Symposium, 1951;
W. J. Conover, Practical Nonparametric Statistics, 3rd ed., 1999, 4.3). The ratios that the test does not
reject when the second sample is divided by them are the interval: two ratios of values of the samples.

A percentile needs neither a density nor a limit in either sample: it needs values beyond it. With equal
samples, five or six of the 2 n (1 - p) highest values must be able to lie in one of them.
"""

from __future__ import annotations

import math
from itertools import accumulate
from typing import TYPE_CHECKING, Final

from lazy_dataclasses import dataclass
from rulesets.statistics.smallest import smallest

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from fractions import Fraction

_ALL: Final = 4096
"""The most values of a sample that are all kept; of more, those within eight deviations of the percentile."""
_DEVIATIONS: Final = 8
_NEGLIGIBLE: Final = 1e-20
_MOST_SAMPLES: Final = 10**7


@dataclass(frozen=True, slots=True)
class Ordered:
    """The values of a sample around a percentile, ascending.

    Attributes:
        n: How many independent values the sample counts for.
        start: The rank of the first of `values`, from 1.
        values: As many as are needed; those before are lower, those after higher.
    """

    n: int
    start: int
    values: Sequence[float]

    def at(self, rank: int) -> float:
        """The value of a rank from 1 on; infinite outside `values`."""
        place = rank - self.start
        if place < 0:
            return -math.inf
        return self.values[place] if place < len(self.values) else math.inf


@dataclass(frozen=True, slots=True)
class Ratio:
    """The ratio of the second sample's percentile to the first's, with the test result.

    Attributes:
        p: Both ways; None where samples of this size cannot differ significantly at the level.
        low: The lower end of its interval; None where samples of this size have none.
    """

    p: float | None
    low: float | None
    high: float | None


def ordered(value_at: Callable[[int], float], size: int, n: int, p: Fraction) -> Ordered:
    """A sample reduced to n independent values of one distribution.

    Args:
        value_at: The value of a rank in ascending order, from 0.
        size: How many values there are.
        n: How many independent ones they count for, from 1 to `size`.
        p: The percentile, as a share.
    """
    first, last = 1, n
    if n > _ALL:
        center, reach = float(p) * n, _DEVIATIONS * math.sqrt(n * float(p * (1 - p))) + 2
        first, last = max(1, math.floor(center - reach)), min(n, math.ceil(center + reach))
    return Ordered(n, first, [value_at((2 * rank - 1) * size // (2 * n)) for rank in range(first, last + 1)])


def compare(first: Ordered, second: Ordered, p: Fraction, level: float) -> Ratio:
    """Test whether the percentile p of two samples of positive values is equal.

    Args:
        first: What is compared with.
        second: The other one.
        p: The percentile, as a share.
        level: Of the interval; p is given where it can be below 1 - level.
    """
    counts = _RankCounts.of(first.n, second.n, p)
    doubt = 1 - level
    if counts is None or counts.least_p > doubt:
        low, high = (None, None) if counts is None else _ends(first, second, counts, doubt)
        return Ratio(None, low, high)
    return Ratio(counts.p(_observed(first, second, counts)), *_ends(first, second, counts, doubt))


def fewest(p: Fraction, alpha: float) -> int | None:
    """The fewest independent values a sample, both of one size, with which a percentile can differ.

    Returns:
        None where it would take more than ten million.
    """

    def enough(n: int) -> bool:
        # Most of both samples' extremes in one of them: a product, without the whole distribution.
        beyond = min(_lowest(2 * n, p), 2 * n - _lowest(2 * n, p))
        if not 0 < beyond <= n:
            return False
        chance = math.exp(sum(math.log((n - i) / (2 * n - i)) for i in range(min(beyond, 200))))
        return 2 * chance <= alpha

    return smallest(enough, 2, _MOST_SAMPLES)


@dataclass(frozen=True, slots=True)
class _RankCounts:
    """How many of the lowest K values are of the second sample, where the percentile does not differ.

    Attributes:
        lowest: K.
        expected: How many of them are.
        start: The first number that is not negligible.
        upto: The probability of at most that many, and of one more, and so on.
        least_p: The least p that samples of these sizes can have.
    """

    lowest: int
    expected: float
    start: int
    upto: Sequence[float]
    least_p: float

    @classmethod
    def of(cls, first: int, second: int, p: Fraction) -> _RankCounts | None:
        """None where there are no values on one side of the percentile."""
        total = first + second
        lowest = _lowest(total, p)
        if not 0 < lowest < total:
            return None
        ends = max(0, lowest - first), min(lowest, second)
        mode = min(max((lowest + 1) * (second + 1) // (total + 2), ends[0]), ends[1])

        def towards(step: int) -> list[float]:
            """Probabilities from the mode on, relative to the mode's."""
            chances, count, chance = [], mode, 1.0
            while count != ends[step > 0] and chance > _NEGLIGIBLE:
                m = count if step > 0 else count - 1
                ratio = (lowest - m) * (second - m) / ((m + 1) * (total - lowest - second + m + 1))
                chance *= ratio if step > 0 else 1 / ratio
                count += step
                chances.append(chance)
            return chances

        below, above = towards(-1), towards(1)
        chances = [*reversed(below), 1.0, *above]
        whole = math.fsum(chances)
        upto = [min(1.0, chance / whole) for chance in accumulate(chances)]
        extremes = min(chances[0], chances[-1]) / whole
        return cls(lowest, lowest * second / total, mode - len(below), upto, min(1.0, 2 * extremes))

    @property
    def end(self) -> int:
        """The last number that is not negligible."""
        return self.start + len(self.upto) - 1

    def at_most(self, count: int) -> float:
        """The probability of that many or fewer."""
        if count < self.start:
            return 0.0
        return self.upto[count - self.start] if count < self.end else 1.0

    def p(self, count: int) -> float:
        """Twice the smaller tail, at most 1."""
        return min(1.0, 2 * min(self.at_most(count), 1 - self.at_most(count - 1)))


def _lowest(total: int, p: Fraction) -> int:
    """K: the share p of all values, rounded."""
    return math.floor(total * p + (1 if total * p % 1 * 2 >= 1 else 0))


def _observed(first: Ordered, second: Ordered, counts: _RankCounts) -> int:
    """How many of the lowest K are of the second sample; of values that tie, as many as are expected."""
    least, upper = (
        _last(
            lambda count: (
                second.at(count) < first.at(counts.lowest - count + 1)
                if strict  # noqa: B023 (called at once)
                else second.at(count) <= first.at(counts.lowest - count + 1)
            ),
            max(0, counts.lowest - first.n),
            min(counts.lowest, second.n),
        )
        for strict in (True, False)
    )
    return min(max(round(counts.expected), least), upper)


def _last(holds: Callable[[int], bool], low: int, high: int) -> int:
    """The last number up to `high` for which a monotone condition holds; `low` for none."""
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if holds(middle) else (low, middle - 1)
    return low


def _ends(
    first: Ordered, second: Ordered, counts: _RankCounts, doubt: float
) -> tuple[float | None, float | None]:
    """The least and the largest ratio that are not rejected."""
    accepted = range(counts.start, counts.end + 1)
    least = next(count for count in accepted if counts.at_most(count) > doubt / 2)
    upper = next(count for count in reversed(accepted) if 1 - counts.at_most(count - 1) > doubt / 2)
    return (
        _divided(second, least, first, counts.lowest - least + 1),
        _divided(second, upper + 1, first, counts.lowest - upper),
    )


def _divided(second: Ordered, rank: int, first: Ordered, other: int) -> float | None:
    """A ratio of two values; None where one of the ranks does not exist, or values are not positive."""
    if not (1 <= rank <= second.n and 1 <= other <= first.n):
        return None
    above, below = second.at(rank), first.at(other)
    return above / below if 0 < below < math.inf and 0 < above < math.inf else None
