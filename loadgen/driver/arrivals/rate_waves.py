"""Rates that change again and again: profiles (`rate_profile.py`) that repeat without end."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

from loadgen.driver.arrivals.rate_limits import require_rate, require_seconds, shown
from loadgen.driver.errors import ProfileError

_LOOKS: Final = 100
"""Newton's method with bisection takes 5 or so; bisection alone would take 50."""


@dataclass(frozen=True, slots=True)
class Sine:
    """Waves around a mean, which begin at the mean and rise.

    Attributes:
        mean: The rate on average, above 0.
        amplitude: How far above it the rate rises, and how far below it falls; at most `mean`.
    """

    mean: float
    amplitude: float
    period_s: float

    def __post_init__(self) -> None:
        require_rate(self.mean)
        require_rate(self.amplitude)
        require_seconds(self.period_s)
        if not 0 < self.mean >= self.amplitude:
            raise ProfileError(
                f"a sine of mean {shown(self.mean)} and amplitude {shown(self.amplitude)} has rates below 0; "
                "give a mean above 0, and an amplitude up to the mean",
            )

    @property
    def end_s(self) -> float:
        """Infinite: waves never end."""
        return math.inf

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
    """A base rate with periodic bursts at another rate. A period ends with the burst.

    Attributes:
        every_s: From the end of one burst to the end of the next.
    """

    base: float
    burst: float
    every_s: float
    lasting_s: float

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
    def end_s(self) -> float:
        """Infinite: bursts never end."""
        return math.inf

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
