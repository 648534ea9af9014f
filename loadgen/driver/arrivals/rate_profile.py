"""How a rate changes with time. Pure functions of time, with exact inverses.

The cumulative rate Λ(t), the integral of the rate from 0 to t, is the number of requests that are expected
until t. A schedule is Λ⁻¹ of a process of unit rate (`schedule.py`), so both are exact. Stages are in
`stages.py`; `rate_text.py` reads a profile from text.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from bisect import bisect_right
from typing import ClassVar, Final, Protocol

from lazy_dataclasses import dataclass
from loadgen.driver.arrivals.rate_limits import require_rate, require_seconds, shown
from loadgen.driver.errors import ProfileError

FEWEST_STEPS: Final = 2
MOST_STEPS: Final = 10_000


class Profile(Protocol):
    """A rate over time, in req/s, from 0 s on."""

    @property
    def end_s(self) -> float:
        """The time from which the rate is constant; infinite without one."""

    @property
    def peak(self) -> float:
        """The highest rate."""

    @property
    def text(self) -> str:
        """The text that `loadgen.driver.arrivals.rate_text` parses to an equal profile."""

    def rate(self, at_s: float) -> float:
        """The rate at a time."""

    def cumulative(self, at_s: float) -> float:
        """Λ: how many requests are expected until a time."""

    def inverse(self, expected: float) -> float:
        """Λ⁻¹: the last time until which at most this many requests are expected; infinite without one."""


@dataclass(frozen=True, slots=True)
class Flat:
    """A constant rate."""

    level: float  #: that rate; 0 is silence
    end_s: ClassVar[float] = math.inf

    def __post_init__(self) -> None:
        require_rate(self.level)

    @property
    def peak(self) -> float:
        """The rate."""
        return self.level

    @property
    def text(self) -> str:
        """`20`."""
        return shown(self.level)

    def rate(self, _at_s: float) -> float:
        """The rate."""
        return self.level

    def cumulative(self, at_s: float) -> float:
        """Λ(t) = r t."""
        return self.level * at_s

    def inverse(self, expected: float) -> float:
        """Λ⁻¹(s) = s / r."""
        return expected / self.level if self.level else math.inf


@dataclass(frozen=True, slots=True)
class Ramp(ABC):
    """From one rate to another until a time, and the last rate from then on."""

    first: float
    last: float
    end_s: float

    def __post_init__(self) -> None:
        require_rate(self.first)
        require_rate(self.last)
        require_seconds(self.end_s)

    @property
    def peak(self) -> float:
        """The rate at one of the ends."""
        return max(self.first, self.last)

    def rate(self, at_s: float) -> float:
        """The rate at a time."""
        return self._rate(at_s) if at_s < self.end_s else self.last

    def cumulative(self, at_s: float) -> float:
        """Λ up to the end, and of the constant rate after."""
        within = min(at_s, self.end_s)
        return self._cumulative(within) + self.last * (at_s - within)

    def inverse(self, expected: float) -> float:
        """Λ⁻¹ before the end, or after."""
        beyond = expected - self._cumulative(self.end_s)
        if beyond < 0:
            return min(self._inverse(expected), self.end_s)
        return self.end_s + beyond / self.last if self.last else math.inf

    @abstractmethod
    def _rate(self, at_s: float) -> float:
        """The rate before the end."""

    @abstractmethod
    def _cumulative(self, at_s: float) -> float:
        """Λ up to the end."""

    @abstractmethod
    def _inverse(self, expected: float) -> float:
        """Λ⁻¹ before the end."""


@dataclass(frozen=True, slots=True)
class LinearRamp(Ramp):
    """From one rate to another, by as much every second."""

    @property
    def text(self) -> str:
        """`ramp:1..50,60s`."""
        return f"ramp:{shown(self.first)}..{shown(self.last)},{shown(self.end_s)}s"

    def _rate(self, at_s: float) -> float:
        """r(t) = a + m t, with the slope m = (b - a) / T."""
        return self.first + (self.last - self.first) * (at_s / self.end_s)

    def _cumulative(self, at_s: float) -> float:
        """Λ(t) = a t + m t² / 2."""
        return at_s * (self.first + (self.last - self.first) * (at_s / self.end_s) / 2)

    def _inverse(self, expected: float) -> float:
        """Λ⁻¹(s) = 2 s / (a + √(a² + 2 m s)): the root that loses no digits, whatever the slope."""
        slope = (self.last - self.first) / self.end_s
        root = math.sqrt(max(0.0, self.first * self.first + 2 * slope * expected))
        return 2 * expected / (self.first + root) if self.first + root else 0.0


@dataclass(frozen=True, slots=True)
class ExponentialRamp(Ramp):
    """From one rate to another, both above 0, by a constant factor per second."""

    def __post_init__(self) -> None:
        Ramp.__post_init__(self)
        if not (self.first and self.last):
            raise ProfileError("an exponential ramp can neither begin nor end at a rate of 0")

    @property
    def text(self) -> str:
        """`ramp-exp:1..50,60s`."""
        return f"ramp-exp:{shown(self.first)}..{shown(self.last)},{shown(self.end_s)}s"

    def _rate(self, at_s: float) -> float:
        """r(t) = a e^(g t), with the growth g = ln(b / a) / T."""
        return self.first * math.exp(self._growth * at_s)

    def _cumulative(self, at_s: float) -> float:
        """Λ(t) = a (e^(g t) - 1) / g."""
        growth = self._growth
        return self.first * (math.expm1(growth * at_s) / growth if growth else at_s)

    def _inverse(self, expected: float) -> float:
        """Λ⁻¹(s) = ln(1 + g s / a) / g."""
        growth, seconds = self._growth, expected / self.first
        return math.log1p(growth * seconds) / growth if growth else seconds

    @property
    def _growth(self) -> float:
        return math.log(self.last / self.first) / self.end_s


@dataclass(frozen=True, slots=True)
class Steps(Ramp):
    """From one rate to another in two or more steps of equal height and length."""

    number: int

    def __post_init__(self) -> None:
        Ramp.__post_init__(self)
        if not FEWEST_STEPS <= self.number <= MOST_STEPS:
            raise ProfileError(f"{self.number} steps: must be from {FEWEST_STEPS} to {MOST_STEPS}")

    @property
    def text(self) -> str:
        """`steps:10..50x5,60s`."""
        return f"steps:{shown(self.first)}..{shown(self.last)}x{self.number},{shown(self.end_s)}s"

    def _rate(self, at_s: float) -> float:
        return self._level(self._step(at_s))

    def _cumulative(self, at_s: float) -> float:
        """Λ of the steps before, and of this one so far."""
        step = self._step(at_s)
        return self._before(step) + self._level(step) * (at_s - step * self._length)

    def _inverse(self, expected: float) -> float:
        """Λ⁻¹ within the step."""
        step = bisect_right(range(1, self.number), expected, key=self._before)
        level = self._level(step)
        return step * self._length + ((expected - self._before(step)) / level if level else 0.0)

    @property
    def _length(self) -> float:
        return self.end_s / self.number

    def _step(self, at_s: float) -> int:
        return min(int(at_s / self._length), self.number - 1)

    def _level(self, step: int) -> float:
        return self.first + (self.last - self.first) * (step / (self.number - 1))

    def _before(self, step: int) -> float:
        """Λ at the beginning of a step: the number of steps times the average of the first and the last."""
        return self._length * step * (self.first + self._level(step - 1)) / 2 if step else 0.0


@dataclass(frozen=True, slots=True)
class Later:
    """A profile from a given moment on."""

    whole: Profile
    by_s: float

    @property
    def end_s(self) -> float:
        """The end of the profile, as far as that is yet to come."""
        return max(0.0, self.whole.end_s - self.by_s)

    @property
    def peak(self) -> float:
        """The highest rate of the profile, which may lie behind."""
        return self.whole.peak

    @property
    def text(self) -> str:
        """That of the profile."""
        return self.whole.text

    def rate(self, at_s: float) -> float:
        """The rate at a time."""
        return self.whole.rate(self.by_s + at_s)

    def cumulative(self, at_s: float) -> float:
        """Λ of the remaining profile."""
        return self.whole.cumulative(self.by_s + at_s) - self.whole.cumulative(self.by_s)

    def inverse(self, expected: float) -> float:
        """Λ⁻¹ of the remaining profile."""
        return max(0.0, self.whole.inverse(self.whole.cumulative(self.by_s) + expected) - self.by_s)


_LOOKS: Final = 100
"""Newton's method with bisection takes 5 or so; bisection alone would take 50."""


@dataclass(frozen=True, slots=True)
class Sine:
    """Waves around a mean, which begin at the mean and rise."""

    mean: float  #: the rate on average, above 0
    amplitude: float  #: how far above it the rate rises, and how far below it falls; at most `mean`
    period_s: float
    end_s: ClassVar[float] = math.inf

    def __post_init__(self) -> None:
        require_rate(self.mean)
        require_rate(self.amplitude)
        require_seconds(self.period_s)
        if not 0 < self.mean >= self.amplitude:
            raise ProfileError(
                f"a sine of mean {shown(self.mean)} and amplitude {shown(self.amplitude)} has rates below 0; "
                "give a mean above 0, and an amplitude up to the mean"
            )

    @property
    def peak(self) -> float:
        """At the crest of a wave."""
        return self.mean + self.amplitude

    @property
    def text(self) -> str:
        """`sine:20,10,60s`."""
        return f"sine:{shown(self.mean)},{shown(self.amplitude)},{shown(self.period_s)}s"

    def rate(self, at_s: float) -> float:
        """r(t) = m + A sin(2π t / P)."""
        return max(0.0, self.mean + self.amplitude * math.sin(math.tau * (at_s / self.period_s % 1.0)))

    def cumulative(self, at_s: float) -> float:
        """Λ(t) = m t + A P (1 - cos(2π t / P)) / 2π, where 1 - cos x = 2 sin² (x / 2) loses no digits."""
        half = math.sin(math.pi * (at_s / self.period_s % 1.0))
        return self.mean * at_s + self.amplitude * self.period_s * half * half / math.pi

    def inverse(self, expected: float) -> float:
        """Λ⁻¹ within a wave: Newton's method, and bisection outside the bracket."""
        waves, rest = divmod(expected, self.mean * self.period_s)
        low, high, at_s = 0.0, self.period_s, rest / self.mean
        for _ in range(_LOOKS):
            over, rate = self.cumulative(at_s) - rest, self.rate(at_s)
            low, high = (low, at_s) if over > 0 else (at_s, high)
            better = at_s - over / rate if rate else low
            if not low < better < high:
                better = (low + high) / 2
            if abs(better - at_s) <= 1e-15 * self.period_s or over == 0:
                break
            at_s = better
        return waves * self.period_s + at_s


@dataclass(frozen=True, slots=True)
class Bursts:
    """A base rate with periodic bursts at another rate. A period ends with the burst."""

    base: float
    burst: float
    every_s: float  #: from the end of one burst to the end of the next
    lasting_s: float
    end_s: ClassVar[float] = math.inf

    def __post_init__(self) -> None:
        require_rate(self.base)
        require_rate(self.burst)
        require_seconds(self.every_s)
        require_seconds(self.lasting_s)
        if self.lasting_s >= self.every_s:
            raise ProfileError(
                f"bursts of {shown(self.lasting_s)} s every {shown(self.every_s)} s: no time is left between"
            )
        if not self.peak:
            raise ProfileError("neither the bursts nor the time between them has a rate above 0")

    @property
    def peak(self) -> float:
        """The greater rate of bursts and base."""
        return max(self.base, self.burst)

    @property
    def text(self) -> str:
        """`bursts:5,100,10s,1s`."""
        times = f"{shown(self.every_s)}s,{shown(self.lasting_s)}s"
        return f"bursts:{shown(self.base)},{shown(self.burst)},{times}"

    def rate(self, at_s: float) -> float:
        """The rate at a time."""
        return self.base if at_s % self.every_s < self._quiet_s else self.burst

    def cumulative(self, at_s: float) -> float:
        """Λ of the periods before, and of this one so far."""
        periods, within = divmod(at_s, self.every_s)
        quiet = min(within, self._quiet_s)
        return periods * self._whole + self.base * quiet + self.burst * (within - quiet)

    def inverse(self, expected: float) -> float:
        """Λ⁻¹ within a period: before the burst, or in the burst."""
        periods, rest = divmod(expected, self._whole)
        beyond = rest - self.base * self._quiet_s
        if beyond < 0:
            within = rest / self.base
        else:
            # Without a rate in the bursts what is left waits for their end.
            within = self._quiet_s + beyond / self.burst if self.burst else self.every_s
        return periods * self.every_s + min(within, self.every_s)

    @property
    def _quiet_s(self) -> float:
        return self.every_s - self.lasting_s

    @property
    def _whole(self) -> float:
        """Λ of a period."""
        return self.base * self._quiet_s + self.burst * self.lasting_s
