"""Intervals by resampling, for values of unknown distribution: the studentised bootstrap.

B. Efron and R. J. Tibshirani, An Introduction to the Bootstrap (1993), 12.5. What is drawn again are the
means of spans of time, or the figures of runs. Each draw's distance from the figure is divided by the
standard error of the draw: a draw of few large values, whose figure is too low, has a small one. Without that
(the percentile bootstrap, 13.3) intervals are too narrow: docs/statistics.md. The same seed draws the same,
so that a verdict can be computed again.
"""

from __future__ import annotations

import math
from random import Random
from statistics import fmean, median
from typing import TYPE_CHECKING, Final

from rulesets.statistics.probability import Probability, exactly, proper

if TYPE_CHECKING:
    from collections.abc import Sequence

RESAMPLES: Final = 2000
_ROUNDING: Final = 1e-12


def interval(
    values: Sequence[float], level: Probability, seed: int, resamples: int = RESAMPLES
) -> tuple[float, float] | None:
    """The two-sided interval of a mean; each end is a one-sided limit of the level (1 + level) / 2.

    Returns:
        None with fewer than two values. An end is infinite where so few values have none.
    """
    sure, n = exactly(proper(level)), len(values)
    if n <= 1:
        return None
    random = Random(seed)  # noqa: S311 (a simulation, not a secret)
    mean = fmean(values)
    apart = [value - mean for value in values]

    def distance() -> float:
        drawn = random.choices(apart, k=n)
        return _ratio(sum(drawn) / n, _squared_error(drawn))

    distances = sorted(distance() for _ in range(resamples))
    left_out = math.floor(resamples * (1 - sure) / 2)
    error = math.sqrt(_squared_error(apart))
    return mean - _times(distances[-1 - left_out], error), mean - _times(distances[left_out], error)


def two_sample_interval(
    first: Sequence[float],
    second: Sequence[float],
    level: Probability,
    seed: int,
    resamples: int = RESAMPLES,
) -> tuple[float, float]:
    """The symmetric interval of the shift from the first group to the second: ibid., 12.5.

    The shift is the median of all pairwise differences (Hodges and Lehmann), its standard error Welch's.
    """
    sure, random = exactly(proper(level)), Random(seed)  # noqa: S311 (a simulation, not a secret)
    by, center = _shift(first, second), fmean([*first, *second])
    first, second = ([value - center for value in side] for side in (first, second))

    def distance() -> float:
        drawn = random.choices(first, k=len(first)), random.choices(second, k=len(second))
        return abs(_ratio(_shift(*drawn) - by, sum(map(_squared_error, drawn))))

    distances = sorted(distance() for _ in range(resamples))
    farthest = distances[-1 - math.floor(resamples * (1 - sure))]
    half = _times(farthest, math.sqrt(_squared_error(first) + _squared_error(second)))
    return by - half, by + half


def _shift(first: Sequence[float], second: Sequence[float]) -> float:
    return median(later - earlier for earlier in first for later in second)


def _squared_error(values: Sequence[float]) -> float:
    """The squared standard error of the mean; 0 where all values are equal but for rounding."""
    n, mean = len(values), sum(values) / len(values)
    squares = sum(map(math.pow, values, (2.0,) * n))
    spread = squares - n * mean * mean
    return spread / (n - 1) / n if spread > _ROUNDING * squares else 0.0


def _ratio(distance: float, squared_error: float) -> float:
    """A distance in standard errors: infinite where all values of the draw are equal."""
    if squared_error:
        return distance / math.sqrt(squared_error)
    return math.copysign(math.inf, distance) if distance else 0.0


def _times(distance: float, error: float) -> float:
    return distance * error if error else 0.0
