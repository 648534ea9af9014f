"""Wilson's score limits of a share.

E. B. Wilson, "Probable inference, the law of succession, and statistical inference", J. Am. Stat. Assoc. 22,
1927. With s = count / of and z the normal quantile of the level,

    (s + z²/2n ± z √(s (1 - s) / n + z²/4n²)) / (1 + z²/n)

It stays between 0 and 1 and is good for few samples and for shares near 0 and 1; on average, not always, it
covers what it says. clopper_pearson.py has limits that always do.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, Literal

from rulesets.statistics.normal import quantile
from rulesets.statistics.probability import exactly, proper
from rulesets.statistics.smallest import MOST_SAMPLES, smallest

if TYPE_CHECKING:
    from rulesets.statistics.probability import Probability


def interval(count: float, of: float, level: Probability) -> tuple[float, float]:
    """The two-sided interval; all from 0 to 1 where nothing was counted."""
    side = (1 + proper(level)) / 2
    return lower(count, of, side), upper(count, of, side)


def upper(count: float, of: float, level: Probability) -> float:
    """The one-sided upper limit, exceeded with probability 1 - level."""
    return 1 - lower(of - count, of, level)


def lower(count: float, of: float, level: Probability) -> float:
    """The one-sided lower limit, undercut with probability 1 - level."""
    if not count:
        return 0.0
    share, squared = count / of, quantile(float(proper(level))) ** 2 / of
    root = math.sqrt(squared * share * (1 - share) + squared * squared / 4)
    return (share + squared / 2 - math.copysign(root, level - 0.5)) / (1 + squared)


def samples_needed(
    count: int,
    of: int,
    bound: Probability,
    level: Probability,
    side: Literal["upper", "lower"] = "upper",
) -> int | None:
    """About how many samples would have that limit meet the bound, were the share to stay.

    Args:
        count: Of `of`.
        of: Samples so far, at least 1: of none there is no share.
        bound: What the upper limit must not exceed, or the lower limit must not fall below.
        level: Of the limit.
        side: Which limit.

    Returns:
        At least `of`; None where no number would, or none up to `MOST_SAMPLES`.
    """
    share, allowed = Fraction(count, of), exactly(bound)
    if share >= allowed if side == "upper" else share <= allowed:
        return None

    def enough(size: int) -> bool:
        scaled = share * size
        if side == "upper":
            return upper(math.ceil(scaled), size, level) <= allowed
        return lower(math.floor(scaled), size, level) >= allowed

    return smallest(enough, of, MOST_SAMPLES)
