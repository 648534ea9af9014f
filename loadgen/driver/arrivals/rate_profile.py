"""How a rate changes with time. Pure functions of time, with exact inverses.

The cumulative rate Λ(t), the integral of the rate from 0 to t, is the number of requests that are expected
until t. A schedule is Λ⁻¹ of a process of unit rate (`schedule.py`), so both are exact. Profiles that repeat
are in `rate_waves.py`, stages in `stages.py`; `rate_text.py` reads a profile from text.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from dataclasses import dataclass
from typing import Final, Protocol

from loadgen.driver.arrivals.rate_limits import (
    require_rate,
    require_seconds,
    shown,
)
from loadgen.driver.errors import ProfileError

FEWEST_STEPS: Final = 2
MOST_STEPS: Final = 10_000


class Profile(Protocol):
    """A rate over time, in requests/s, from 0 s on."""

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
        """Λ⁻¹: the last time until which at most this many requests are expected.

        Infinite where there never are more.
        """


@dataclass(frozen=True, slots=True)
class Flat:
    """A constant rate.

    Attributes:
        level: That rate; 0 is silence.
    """

    level: float

    def __post_init__(self) -> None:
        require_rate(self.level)

    @property
    def end_s(self) -> float:
        """The end of a profile without changes."""
        return math.inf

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
class LinearRamp:
    """From one rate to another, by as much every second.

    Attributes:
        first: The rate at 0 s.
    """

    first: float
    last: float
    end_s: float

    def __post_init__(self) -> None:
        require_rate(self.first)
        require_rate(self.last)
        require_seconds(self.end_s)

    @property
    def peak(self) -> float:
        """At one of the ends."""
        return max(self.first, self.last)

    @property
    def text(self) -> str:
        """`ramp:1..50,60s`."""
        return f"ramp:{shown(self.first)}..{shown(self.last)},{shown(self.end_s)}s"

    def rate(self, at_s: float) -> float:
        """r(t) = a + m t, with the slope m = (b - a) / T."""
        return self.first + (self.last - self.first) * (at_s / self.end_s)

    def cumulative(self, at_s: float) -> float:
        """Λ(t) = a t + m t² / 2."""
        return at_s * (self.first + (self.last - self.first) * (at_s / self.end_s) / 2)

    def inverse(self, expected: float) -> float:
        """Λ⁻¹(s) = 2 s / (a + √(a² + 2 m s)): the root that loses no digits, whatever the slope."""
        slope = (self.last - self.first) / self.end_s
        root = math.sqrt(max(0.0, self.first * self.first + 2 * slope * expected))
        return 2 * expected / (self.first + root) if self.first + root else 0.0


@dataclass(frozen=True, slots=True)
class ExponentialRamp:
    """From one rate to another, by a constant factor per second.

    Attributes:
        first: The rate at 0 s, above 0.
        last: The rate at the end, above 0.
    """

    first: float
    last: float
    end_s: float

    def __post_init__(self) -> None:
        for rate in (self.first, self.last):
            require_rate(rate)
            if not rate:
                raise ProfileError("an exponential ramp can neither begin nor end at a rate of 0")
        require_seconds(self.end_s)

    @property
    def peak(self) -> float:
        """At one of the ends."""
        return max(self.first, self.last)

    @property
    def text(self) -> str:
        """`ramp-exp:1..50,60s`."""
        return f"ramp-exp:{shown(self.first)}..{shown(self.last)},{shown(self.end_s)}s"

    def rate(self, at_s: float) -> float:
        """r(t) = a e^(g t), with the growth g = ln(b / a) / T."""
        return self.first * math.exp(self._growth * at_s)

    def cumulative(self, at_s: float) -> float:
        """Λ(t) = a (e^(g t) - 1) / g."""
        growth = self._growth
        return self.first * (math.expm1(growth * at_s) / growth if growth else at_s)

    def inverse(self, expected: float) -> float:
        """Λ⁻¹(s) = ln(1 + g s / a) / g."""
        growth, seconds = self._growth, expected / self.first
        return math.log1p(growth * seconds) / growth if growth else seconds

    @property
    def _growth(self) -> float:
        return math.log(self.last / self.first) / self.end_s


@dataclass(frozen=True, slots=True)
class Steps:
    """From one rate to another in steps of equal height and length."""

    first: float
    last: float
    number: int
    end_s: float

    def __post_init__(self) -> None:
        require_rate(self.first)
        require_rate(self.last)
        require_seconds(self.end_s)
        if not FEWEST_STEPS <= self.number <= MOST_STEPS:
            raise ProfileError(f"{self.number} steps: must be from {FEWEST_STEPS} to {MOST_STEPS}")

    @property
    def peak(self) -> float:
        """At one of the ends."""
        return max(self.first, self.last)

    @property
    def text(self) -> str:
        """`steps:10..50x5,60s`."""
        return f"steps:{shown(self.first)}..{shown(self.last)}x{self.number},{shown(self.end_s)}s"

    def rate(self, at_s: float) -> float:
        """The rate of the step."""
        return self._level(self._step(at_s))

    def cumulative(self, at_s: float) -> float:
        """Λ of the steps before, and of this one so far."""
        step = self._step(at_s)
        return self._before(step) + self._level(step) * (at_s - step * self._length)

    def inverse(self, expected: float) -> float:
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
class Held:
    """A profile with an end, followed by the final rate."""

    until: LinearRamp | ExponentialRamp | Steps

    @property
    def end_s(self) -> float:
        """The end of the first profile."""
        return self.until.end_s

    @property
    def peak(self) -> float:
        """The highest rate of both."""
        return self.until.peak

    @property
    def text(self) -> str:
        """The text of the first profile."""
        return self.until.text

    def rate(self, at_s: float) -> float:
        """The rate at a time."""
        return self.until.rate(at_s) if at_s < self.end_s else self.until.last

    def cumulative(self, at_s: float) -> float:
        """Λ up to the end, and of the constant rate after."""
        within = min(at_s, self.end_s)
        return self.until.cumulative(within) + self.until.last * (at_s - within)

    def inverse(self, expected: float) -> float:
        """Λ⁻¹ before the end, or after."""
        beyond = expected - self.until.cumulative(self.end_s)
        if beyond < 0:
            return min(self.until.inverse(expected), self.end_s)
        return self.end_s + beyond / self.until.last if self.until.last else math.inf


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
