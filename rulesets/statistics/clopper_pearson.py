"""Exact limits of a share, with at least the nominal coverage.

C. J. Clopper and E. S. Pearson, "The use of confidence or fiducial limits illustrated in the case of the
binomial", Biometrika 26, 1934. The lower limit is the share at which `count` or more would be seen with
probability 1 - level: I_share(count, of - count + 1) = 1 - level; the upper one follows from the other end.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rulesets.statistics.binomial import beta_inc
from rulesets.statistics.probability import proper

if TYPE_CHECKING:
    from rulesets.statistics.probability import Probability


def interval(count: int, of: int, level: Probability) -> tuple[float, float]:
    """The two-sided interval; all from 0 to 1 where nothing was counted."""
    side = (1 + proper(level)) / 2
    return lower(count, of, side), upper(count, of, side)


def upper(count: int, of: int, level: Probability) -> float:
    """The one-sided upper limit, exceeded with probability 1 - level."""
    return 1 - lower(of - count, of, level)


def lower(count: int, of: int, level: Probability) -> float:
    """The one-sided lower limit, undercut with probability 1 - level. Found by halving, to the last bit."""
    if not count:
        return 0.0
    doubt = float(1 - proper(level))
    low, high = 0.0, 1.0
    while low < (middle := (low + high) / 2) < high:
        low, high = (middle, high) if beta_inc(count, of - count + 1, middle) < doubt else (low, middle)
    return low
