"""Limits of a percentile that hold whatever the distribution: two of the sample's own values.

With B ~ Binomial(n, p) the number of n samples that are at most the percentile p, x_(l) and x_(u) (ranks from
1) enclose it with probability P(l ≤ B ≤ u - 1): H. A. David and H. N. Nagaraja, Order Statistics (2003), 7.1.
Ranks here count from 0: rank k is x_(k+1), and exceeds the percentile or is it with P(B ≤ k).

It takes the samples for independent. Those of one run resemble their neighbours, and the interval is then too
narrow: the effective number of samples (effective_size.py) is the remedy.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from fractions import Fraction
from typing import TYPE_CHECKING, Literal, cast

from lazy_dataclasses import dataclass
from rulesets.statistics.binomial import at_most
from rulesets.statistics.probability import proper
from rulesets.statistics.smallest import MOST_SAMPLES, smallest

if TYPE_CHECKING:
    from rulesets.statistics.probability import Probability


@dataclass(frozen=True, slots=True)
class Ranks:
    """The ranks of an interval, from 0.

    Attributes:
        lower: None where no sample is low enough: minus infinity.
        upper: None where no sample is high enough: infinity.
        coverage: The probability that it encloses the percentile; at least the level that was asked for.
    """

    lower: int | None
    upper: int | None
    coverage: float


def interval(n: int, p: Probability, level: Probability) -> Ranks:
    """The two-sided interval: the highest lower and the lowest upper rank that each leave half of 1 - level.

    Raises:
        ValueError: A share is not between 0 and 1.
    """
    side = (1 + proper(level)) / 2
    lower, upper = lower_rank(n, p, side), upper_rank(n, p, side)
    above = 1.0 if upper is None else at_most(upper, n, p)
    return Ranks(lower, upper, above - (0.0 if lower is None else at_most(lower, n, p)))


def upper_rank(n: int, p: Probability, level: Probability) -> int | None:
    """The lowest rank whose value is an upper limit of the percentile at that level; None without one."""
    share, sure = proper(p), float(proper(level))
    rank = bisect_left(range(n), sure, key=lambda k: at_most(k, n, share))
    return rank if rank < n else None


def lower_rank(n: int, p: Probability, level: Probability) -> int | None:
    """The highest rank whose value is a lower limit of the percentile at that level; None without one."""
    share, doubt = proper(p), float(1 - proper(level))
    rank = bisect_right(range(n), doubt, key=lambda k: at_most(k, n, share)) - 1
    return rank if rank >= 0 else None


def fewest(p: Probability, level: Probability) -> int:
    """The fewest samples with an upper limit at that level: the least n with 1 - p^n ≥ level.

    A lower limit takes `fewest(1 - p, level)`, an interval's upper end `fewest(p, (1 + level) / 2)`.
    """
    share, sure = proper(p), float(proper(level))
    return cast("int", smallest(lambda n: at_most(n - 1, n, share) >= sure))


def samples_needed(
    unmet: int,
    n: int,
    p: Probability,
    level: Probability,
    side: Literal["upper", "lower"] = "upper",
) -> int | None:
    """The approximate number of samples that would meet the bound at an unchanged share of misses.

    Args:
        unmet: How many of `n` do not meet the bound: they are above it where the upper limit must meet it,
            below where the lower one must.
        n: Samples so far; of none, none miss it.
        p: The percentile, as a share.
        level: Of the limit.
        side: Which limit.

    Returns:
        At least n; None where no number would, or none up to `MOST_SAMPLES`.
    """
    share, start = proper(p), max(n, 1)
    if Fraction(unmet, start) >= (1 - share if side == "upper" else share):
        return None

    def enough(count: int) -> bool:
        missing = -(-unmet * count // start)
        if side == "upper":
            rank = upper_rank(count, share, level)
            return rank is not None and rank < count - missing
        rank = lower_rank(count, share, level)
        return rank is not None and rank >= missing

    return smallest(enough, start, MOST_SAMPLES)
