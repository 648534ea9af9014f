"""The standard normal distribution."""

from __future__ import annotations

import math
from statistics import NormalDist


def cdf(x: float) -> float:
    """P(Z ≤ x) by the complementary error function, which keeps the digits of a far tail: DLMF 7.2.2."""
    return math.erfc(-x / math.sqrt(2)) / 2


def quantile(p: float) -> float:
    """The x with P(Z ≤ x) = p, p between 0 and 1.

    M. J. Wichura, "Algorithm AS 241: The percentage points of the normal distribution", Applied Statistics
    37, 1988, as Python's library has it.
    """
    return NormalDist().inv_cdf(p)
