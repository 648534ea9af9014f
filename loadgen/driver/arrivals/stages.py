"""Stages: rates one after the other, with silence where there is none."""

from __future__ import annotations

import math
from bisect import bisect_right
from itertools import accumulate
from typing import TYPE_CHECKING, Any

from lazy_dataclasses import dataclass, field

if TYPE_CHECKING:
    from loadgen.driver.arrivals.rate_profile import Profile


@dataclass(frozen=True, slots=True)
class Stage:
    """A time span with a rate."""

    start_s: float  #: when it begins, from the beginning of the phase: a warm-up goes through the same stages
    duration_s: float  #: how long it takes, above 0
    profile: Profile
    name: str | None = None

    @property
    def end_s(self) -> float:
        """The end of the stage."""
        return self.start_s + self.duration_s

    def settings(self) -> dict[str, Any]:
        """The stage for the log."""
        return {
            "name": self.name,
            "start_s": self.start_s,
            "duration_s": self.duration_s,
            "rate": self.profile.text,
        }


@dataclass(frozen=True, slots=True)
class Stages:
    """A rate in stages; 0 before, between and after the stages."""

    #: In the order of time, none beginning before the one ahead of it is over; at least one.
    stages: tuple[Stage, ...]
    before: tuple[float, ...] = field(init=False)  #: Λ at the beginning of each stage, and at the end of all

    def __post_init__(self) -> None:
        expected = (stage.profile.cumulative(stage.duration_s) for stage in self.stages)
        object.__setattr__(self, "before", tuple(accumulate(expected, initial=0.0)))

    @property
    def end_s(self) -> float:
        """When the last stage is over."""
        return self.stages[-1].end_s

    @property
    def peak(self) -> float:
        """The highest rate of any stage."""
        return max(stage.profile.peak for stage in self.stages)

    @property
    def text(self) -> str:
        """The number of stages and the total time: stages have no short text."""
        return f"{len(self.stages)} stages in {self.end_s:g}s"

    def rate(self, at_s: float) -> float:
        """The rate of the stage at that time, if there is one."""
        stage = self.stages[self._stage(at_s)]
        return stage.profile.rate(at_s - stage.start_s) if stage.start_s <= at_s < stage.end_s else 0.0

    def cumulative(self, at_s: float) -> float:
        """Λ of the stages before, and of this one so far."""
        number = self._stage(at_s)
        stage = self.stages[number]
        within = min(max(at_s - stage.start_s, 0.0), stage.duration_s)
        return self.before[number] + stage.profile.cumulative(within)

    def inverse(self, expected: float) -> float:
        """Λ⁻¹ within the stage; infinite after the last one."""
        if expected >= self.before[-1]:
            return math.inf
        number = bisect_right(self.before, expected) - 1
        stage = self.stages[number]
        return stage.start_s + min(stage.profile.inverse(expected - self.before[number]), stage.duration_s)

    def _stage(self, at_s: float) -> int:
        """The last stage that has begun, or the first."""
        return max(0, bisect_right(self.stages, at_s, key=lambda stage: stage.start_s) - 1)
