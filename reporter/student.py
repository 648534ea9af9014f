"""Student's t distribution with a whole number of degrees of freedom, in closed form."""

from __future__ import annotations

import math
from typing import Final

_HALVINGS: Final = 60
_FARTHEST: Final = 1e6


def within(t: float, freedom: int) -> float:
    """The probability that |T| is at most t.

    Abramowitz and Stegun, Handbook of Mathematical Functions (1964), 26.7.3 and 26.7.4.

    Args:
        t: At least 0.
        freedom: Degrees of freedom, at least 1.
    """
    angle = math.atan2(t, math.sqrt(freedom))
    squared, odd = math.cos(angle) ** 2, freedom % 2
    term, total = (math.cos(angle) if odd else 1.0), 0.0
    for step in range(1, freedom // 2 + 1):
        total += term
        term *= squared * (2 * step - (not odd)) / (2 * step + odd)
    if odd:
        return 2 / math.pi * (angle + math.sin(angle) * total)
    return math.sin(angle) * total


def bound(probability: float, freedom: int) -> float:
    """The t that |T| is at most with that probability, from 0 up to but not including 1."""
    low, high = 0.0, _FARTHEST
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if within(middle, freedom) < probability else (low, middle)
    return high
