"""Student's t distribution."""

from __future__ import annotations

import math
from typing import Final

from rulesets.statistics.binomial import beta_inc
from rulesets.statistics.normal import quantile

_STEPS: Final = 100
_CLOSE: Final = 1e-14


def within(t: float, freedom: float) -> float:
    """The probability that |T| is at most t.

    Abramowitz and Stegun, Handbook of Mathematical Functions (1964), 26.7.1: 1 - I_{v/(v+t²)}(v/2, 1/2), and
    for a small t its other end, I_{t²/(v+t²)}(1/2, v/2), which keeps the digits there.

    Args:
        t: At least 0.
        freedom: Degrees of freedom, at least 1; not always a whole number in Welch's test.
    """
    squared = t * t
    if squared < freedom:
        return beta_inc(0.5, freedom / 2, squared / (freedom + squared))
    return 1 - beta_inc(freedom / 2, 0.5, freedom / (freedom + squared))


def bound(probability: float, freedom: float) -> float:
    """The t that |T| is at most with that probability, from 0 up to but not including 1.

    By Newton's steps from the normal distribution's: it is below, and from below each step stays below, as
    `within` is concave.
    """
    t = -quantile((1 - probability) / 2)
    for _ in range(_STEPS):
        step = (probability - within(t, freedom)) / (2 * _density(t, freedom))
        t += step
        if abs(step) <= _CLOSE * t:
            break
    return t


def _density(t: float, freedom: float) -> float:
    """Abramowitz and Stegun, 26.7.1, differentiated."""
    scale = math.lgamma((freedom + 1) / 2) - math.lgamma(freedom / 2) - math.log(freedom * math.pi) / 2
    return math.exp(scale - (freedom + 1) / 2 * math.log1p(t * t / freedom))
