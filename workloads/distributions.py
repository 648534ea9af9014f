"""The shapes of distributions: samplers, and the means of bounded draws."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Callable
from itertools import accumulate
from operator import mul
from random import Random
from statistics import NormalDist
from typing import TYPE_CHECKING, Final, Generic, Protocol, TypeVar

from lazy_dataclasses import dataclass, field

if TYPE_CHECKING:
    from collections.abc import Iterable

Sampler = Callable[[Random], float]
"""Draws one value. A pure function of the random state that it is given: same state, same draws."""

_STANDARD: Final = NormalDist()

_Number = TypeVar("_Number", int, float)


class LengthDistribution(Protocol):
    """A sampler with a known mean."""

    @property
    def mean(self) -> float:
        """The mean of the unbounded draws."""

    def mean_within(self, low: float, high: float) -> float:
        """The mean of the draws when each draw outside the bounds counts as the bound."""

    def __call__(self, rng: Random, /) -> float:
        """Draw a value."""


@dataclass(frozen=True, slots=True)
class Constant(Generic[_Number]):
    """The sampler of a constant, which can be used without drawing."""

    value: _Number

    @property
    def mean(self) -> float:
        """That value."""
        return self.value

    def mean_within(self, low: float, high: float) -> float:
        """See `LengthDistribution`."""
        return min(max(self.value, low), high)

    def __call__(self, _: Random) -> _Number:
        """Return the constant."""
        return self.value


@dataclass(frozen=True, slots=True)
class Uniform:
    """Evenly from `low` to `high`."""

    low: float
    high: float

    @property
    def mean(self) -> float:
        """The middle."""
        return (self.low + self.high) / 2

    def mean_within(self, low: float, high: float) -> float:
        """See `LengthDistribution`."""
        span = self.high - self.low
        if not span:
            return min(max(self.low, low), high)
        first, last = (min(max(end, low), high) for end in (self.low, self.high))
        below = min(max(low - self.low, 0.0), span)
        above = min(max(self.high - high, 0.0), span)
        return (below * low + above * high + (span - below - above) * (first + last) / 2) / span

    def __call__(self, rng: Random) -> float:
        """Draw a value."""
        return rng.uniform(self.low, self.high)


@dataclass(frozen=True, slots=True)
class UniformWhole:
    """Evenly one of the whole numbers from `low` to `high`, both included."""

    low: int
    high: int

    @property
    def mean(self) -> float:
        """The middle."""
        return (self.low + self.high) / 2

    def mean_within(self, low: float, high: float) -> float:
        """See `LengthDistribution`; taken for continuous between the numbers."""
        if self.low >= low and self.high <= high:
            return self.mean
        return Uniform(self.low, self.high).mean_within(low, high)

    def __call__(self, rng: Random) -> int:
        """Draw a number."""
        return rng.randint(self.low, self.high)


@dataclass(frozen=True, slots=True)
class Normal:
    """The normal distribution, by mean and standard deviation."""

    mean: float
    deviation: float

    def mean_within(self, low: float, high: float) -> float:
        """See `LengthDistribution`."""
        if not self.deviation:
            return min(max(self.mean, low), high)
        a, b = (low - self.mean) / self.deviation, (high - self.mean) / self.deviation
        inside = self.mean * (_STANDARD.cdf(b) - _STANDARD.cdf(a))
        inside += self.deviation * (_STANDARD.pdf(a) - _STANDARD.pdf(b))
        return low * _STANDARD.cdf(a) + inside + high * _STANDARD.cdf(-b)

    def __call__(self, rng: Random) -> float:
        """Draw a value."""
        return rng.gauss(self.mean, self.deviation)


@dataclass(frozen=True, slots=True)
class LogNormal:
    """The log-normal distribution, by median and standard deviation of the logarithm."""

    median: float
    sigma: float

    @property
    def mean(self) -> float:
        """The mean, above the median; infinite on overflow."""
        try:
            return self.median * math.exp(self.sigma**2 / 2)
        except OverflowError:
            return math.inf

    def mean_within(self, low: float, high: float) -> float:
        """See `LengthDistribution`; `low` is above 0."""
        if not self.sigma:
            return min(max(self.median, low), high)
        a, b = (math.log(bound / self.median) / self.sigma for bound in (low, high))
        inside = 0.0  # of a mean that cannot be counted, next to nothing
        if math.isfinite(self.mean):
            inside = self.mean * (_STANDARD.cdf(b - self.sigma) - _STANDARD.cdf(a - self.sigma))
        return low * _STANDARD.cdf(a) + inside + high * _STANDARD.cdf(-b)

    def __call__(self, rng: Random) -> float:
        """Draw a value."""
        return self.median * math.exp(rng.gauss(0.0, self.sigma))


@dataclass(frozen=True, slots=True)
class Exponential:
    """The exponential distribution, by mean."""

    mean: float

    def mean_within(self, low: float, high: float) -> float:
        """See `LengthDistribution`."""
        if not self.mean:
            return low
        return low + self.mean * (math.exp(-low / self.mean) - math.exp(-high / self.mean))

    def __call__(self, rng: Random) -> float:
        """Draw a value."""
        return self.mean * rng.expovariate(1.0)


@dataclass(frozen=True, slots=True)
class Histogram:
    """Whole numbers as often as was counted."""

    #: The first and the last number of each; within it every number is as likely.
    bins: tuple[tuple[int, int], ...]
    weights: tuple[float, ...]  #: how often each bin came; not all are 0
    _up_to: tuple[float, ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_up_to", tuple(accumulate(self.weights)))

    @property
    def mean(self) -> float:
        """Of all that was counted."""
        return self._weighted(map(sum, self.bins)) / 2

    def mean_within(self, low: float, high: float) -> float:
        """See `LengthDistribution`."""
        return self._weighted(UniformWhole(*span).mean_within(low, high) for span in self.bins)

    def __call__(self, rng: Random) -> int:
        """Draw a number."""
        place = bisect_right(self._up_to, rng.random() * self._up_to[-1])
        # Rounding may lead to the very end.
        while place == len(self.bins) or not self.weights[place]:
            place -= 1
        return rng.randint(*self.bins[place])

    def _weighted(self, values: Iterable[float]) -> float:
        return math.fsum(map(mul, self.weights, values)) / self._up_to[-1]
