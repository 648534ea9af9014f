"""The variance of the mean of an autocorrelated series, and the certainty of that variance.

Requests of one run are not independent: they shared a queue, caches and a clock. With s² the variance of the
values and r(k) their autocorrelation at lag k, the variance of the mean of n of them is about D s² / n, where
D = 1 + 2 Σ r(k) is the design effect, and n / D the effective sample size. The data choose D, the larger of
two estimates:

1. Of an autoregressive model: σ² / (1 - Σ φ)² / s², its spectral density at frequency zero. The order is that
   with the lowest AIC (H. Akaike, IEEE Transactions on Automatic Control 19, 1974), up to 10 log10(n) as in
   R's `ar`; the coefficients are those of Yule and Walker, by the recursion of N. Levinson and J. Durbin
   (Revue de l'Institut International de Statistique 28, 1960). `effectiveSize` in R's coda does the same (M.
   Plummer et al., R News 6/1, 2006).
2. Of batch means, 0.7 √n of them and 8 at least: A. M. Law, Simulation Modeling and Analysis (5th ed., 2015),
   9.5.3. They see what a queue of many slots carries over longer lags.

Few values make autocorrelations too small: the estimate of lag 1 has the mean r - (1 + 3 r) / n (F. H. C.
Marriott and J. A. Pope, Biometrika 41, 1954). The sum of the coefficients is corrected for twice that, which
makes up for the scatter of the correction as well; `benchmarks/compare_study.py` measures what is left.
"""

from __future__ import annotations

import math
from itertools import islice
from operator import mul
from statistics import fmean, variance
from typing import TYPE_CHECKING, Final

from lazy_dataclasses import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_BIAS: Final = 2.0
_BATCHES: Final = 0.7
"""Of the square root of n, and 8 at least."""
_FEWEST_BATCHES: Final = 8
_MOST_SUM: Final = 0.99
"""Of the sum of the coefficients: at 1 the series has no mean to return to."""

FEWEST: Final = 5
"""A series never counts for fewer independent values than this, or than 0.8 √n: so few say nothing of D."""
_ROOT: Final = 0.8
FEWEST_VALUES: Final = 8
"""Fewer values tell nothing."""


@dataclass(frozen=True, slots=True)
class LongRun:
    """How a series varies.

    Attributes:
        variance: Of one value, 0 of a constant series.
        effect: The design effect D, 1 at least.
    """

    variance: float
    effect: float
    n: int

    @property
    def effective(self) -> float:
        """How many independent values have a mean that is as sure."""
        return self.n / self.effect

    @property
    def of_mean(self) -> float:
        """The variance of the mean of the series."""
        return self.variance / self.effective

    @property
    def freedom(self) -> float:
        """Degrees of freedom of `of_mean`, as s² and D both scatter.

        The relative variance of s² is 2 / (n/D - 1). That of D is about 4 / (n/D (1 + r)²), r being the
        autocorrelation of the AR(1) that has it: by the delta method, and the variance (1 - r²) / n of r.
        """
        alike = (self.effect - 1) / (self.effect + 1)
        return 1 / (1 / max(self.effective - 1, 1.0) + 2 / (self.effective * (1 + alike) ** 2))


def long_run(series: Sequence[float]) -> LongRun | None:
    """How the mean of a series in the order of time varies.

    Returns:
        None with fewer than 8 values.
    """
    n = len(series)
    if n < FEWEST_VALUES:
        return None
    mean, spread = fmean(series), variance(series)
    apart = [value - mean for value in series]
    # A constant series is not quite so after the division of its sum.
    if spread <= (abs(mean) * 1e-12) ** 2:
        return LongRun(0.0, 1.0, n)
    effect = max(1.0, _autoregressive(apart), _of_batches(apart, spread))
    return LongRun(spread, min(effect, n / max(FEWEST, _ROOT * math.sqrt(n))), n)


def _autoregressive(apart: Sequence[float]) -> float:
    """D by the autoregressive model with the lowest AIC, of first order at least."""
    n = len(apart)
    lags = [
        math.fsum(map(mul, apart, islice(apart, lag, None))) / n
        for lag in range(min(int(10 * math.log10(n)), n // 4) + 1)
    ]
    fits = list(_levinson(lags))
    best = min(fits, key=lambda fit: n * math.log(max(fit[1], 1e-300)) + 2 * len(fit[0]))
    coefficients, noise = best if best[0] else fits[1]
    total = min(_MOST_SUM, (sum(coefficients) + _BIAS / n) / (1 - 3 * _BIAS / n))
    if len(coefficients) == 1:
        return (1 + total) / (1 - total)
    return noise / lags[0] / (1 - total) ** 2


def _levinson(lags: Sequence[float]) -> Iterator[tuple[list[float], float]]:
    """The coefficients of each order from 0 on, with the remaining variance."""
    coefficients: list[float] = []
    noise = lags[0]
    yield coefficients, noise
    for order in range(1, len(lags)):
        explained = math.fsum(map(mul, coefficients, reversed(lags[1:order])))
        reflection = (lags[order] - explained) / noise if noise > 0 else 0.0
        coefficients = [
            *(
                coefficient - reflection * other
                for coefficient, other in zip(coefficients, reversed(coefficients), strict=True)
            ),
            reflection,
        ]
        noise *= max(0.0, 1 - reflection * reflection)
        yield coefficients, noise


def _of_batches(apart: Sequence[float], spread: float) -> float:
    count = max(_FEWEST_BATCHES, round(_BATCHES * math.sqrt(len(apart))))
    size = len(apart) // count
    means = [fmean(apart[first : first + size]) for first in range(0, size * count, size)]
    return variance(means) * size / spread
