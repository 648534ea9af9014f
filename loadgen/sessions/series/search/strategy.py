"""Which load to try next, by the results of the trials before: bracketing, then narrowing. Pure.

Short trials (scouts) quadruple the load from the lowest on until one misses. From there on trials are
thorough: long enough for a clear verdict, and repeated at twice the length while it is not clear. If a scout
was overloaded, its completed rate estimates the limit, and the first thorough trial is just below;
otherwise it is in the middle. Each next trial is a step up from one that met, or down from one that missed,
and from the third on each step is twice as wide as the one before; once there are both, it is in the middle.
All steps and middles are on a logarithmic scale. The final load is tried again, longer, while an endpoint
that falls behind slowly could have met too.
"""

from __future__ import annotations

import math
from enum import StrEnum
from typing import TYPE_CHECKING, Final

from lazy_dataclasses import dataclass

if TYPE_CHECKING:
    from collections.abc import Sequence

MOST_EXTENSIONS: Final = 2
"""How often an unclear thorough trial is repeated, each time twice as long."""

MOST_REPEATS: Final = 2
"""How often a trial that the client made invalid is repeated."""

MOST_TRIALS: Final = 80
HIGHEST: Final = {"rate": 100_000.0, "concurrency": 10_000.0}
"""The highest load that can be searched, by axis."""
SCOUTS_APART: Final = 4
_DIGITS: Final = 4
_SLACK: Final = 1e-9


class TrialVerdict(StrEnum):
    """The verdict of a trial on the trial's load."""

    MET = "met"
    MISSED = "missed"
    UNCLEAR = "unclear"
    """It met or missed a requirement, but chance may explain that."""
    INVALID = "invalid"
    """The client made it invalid: it says nothing about the server."""


class StopReason(StrEnum):
    """Why a search ended."""

    PRECISION = "precision"
    """A load that met and one that did not are near enough."""
    LOW_MISSES = "low_misses"
    """Even the lowest load did not meet the requirements."""
    HIGH_MEETS = "high_meets"
    """Even the highest load met them."""
    INCONCLUSIVE = "inconclusive"
    """Whether the lowest or the highest load met them did not become clear."""
    INVALID = "invalid"
    """The client made every attempt at a load invalid."""
    BUDGET = "budget"
    """The time budget was spent."""
    INTERRUPTED = "interrupted"
    """It was interrupted."""


@dataclass(frozen=True, slots=True)
class SearchRange:
    """The searched range of loads.

    Attributes:
        low: The lowest load.
        high: The highest.
        within: How near loads that met and missed must be, as a share of the former.
        whole: Whether loads are whole numbers.
    """

    low: float
    high: float
    within: float
    whole: bool

    def near(self, met: float, missed: float) -> bool:
        """Whether two loads are too close for a trial between."""
        return missed <= met * (1 + self.within) * (1 + _SLACK) or (self.whole and missed - met <= 1)

    def rounded(self, load: float) -> float:
        """A load rounded to the digits that matter, within the bounds."""
        whole = round(load) if self.whole else float(f"{load:.{_DIGITS}g}")
        return min(max(whole, self.low), self.high)

    def between(self, met: float, missed: float) -> float:
        """The middle, neither of the two."""
        middle = math.sqrt(met * missed)
        return min(max(math.floor(middle), met + 1), missed - 1) if self.whole else self.rounded(middle)


@dataclass(frozen=True, slots=True)
class Trial:
    """A load to try.

    Attributes:
        load: In req/s, or users.
        thorough: Whether its verdict must be more than a hint.
        extensions: How often it has been repeated because it was not clear: each time it is twice as long.
    """

    load: float
    thorough: bool
    extensions: int = 0


@dataclass(frozen=True, slots=True)
class TrialResult:
    """A trial with the result.

    Attributes:
        trial: The trial.
        verdict: Its verdict.
        limit: The estimated limit, by what an overloaded endpoint completed; None where it was not
            overloaded.
        doubtful: Whether an endpoint that falls behind slowly could have met as well.
    """

    trial: Trial
    verdict: TrialVerdict
    limit: float | None = None
    doubtful: bool = False


@dataclass(frozen=True, slots=True)
class TrialBounds:
    """All trials together; None is unknown. A hint counts until a thorough trial contradicts the hint.

    Attributes:
        met: The highest load that met, thoroughly, below all that did not.
        missed: The lowest that did not meet, or stayed unclear.
        seems_met: The highest that met, including hints; never below `met`.
        seems_missed: The lowest that did not, including hints; never above `missed`.
    """

    met: float | None
    missed: float | None
    seems_met: float | None
    seems_missed: float | None


def trial_bounds(tried: Sequence[TrialResult]) -> TrialBounds:
    """Summarize the results of trials."""
    thorough = {result.trial.load: result.verdict for result in tried if result.trial.thorough}
    missed = min(
        (
            load
            for load, verdict in thorough.items()
            if verdict in {TrialVerdict.MISSED, TrialVerdict.UNCLEAR}
        ),
        default=None,
    )
    met = max(
        (
            load
            for load, verdict in thorough.items()
            if verdict is TrialVerdict.MET and load < _or(missed, math.inf)
        ),
        default=None,
    )
    scouts = [result for result in tried if not result.trial.thorough and result.trial.load not in thorough]
    hints_met = [
        result.trial.load for result in scouts if result.verdict in {TrialVerdict.MET, TrialVerdict.UNCLEAR}
    ]
    hints_missed = [result.trial.load for result in scouts if result.verdict is TrialVerdict.MISSED]
    above = [load for load in (missed, *hints_missed) if load is not None and load > _or(met, 0.0)]
    seems_missed = min(above, default=None)
    below = [load for load in (met, *hints_met) if load is not None and load < _or(seems_missed, math.inf)]
    return TrialBounds(met, missed, max(below, default=None), seems_missed)


def next_step(tried: Sequence[TrialResult], bounds: SearchRange) -> Trial | StopReason:
    """The next trial, or why the search ends."""
    if not tried:
        return Trial(bounds.low, thorough=False)
    last = tried[-1]
    if last.verdict is TrialVerdict.INVALID:
        return _again(tried)
    if (
        last.verdict is TrialVerdict.UNCLEAR
        and last.trial.thorough
        and last.trial.extensions < MOST_EXTENSIONS
    ):
        return Trial(last.trial.load, thorough=True, extensions=last.trial.extensions + 1)
    if len(tried) >= MOST_TRIALS:
        return StopReason.INCONCLUSIVE
    return _onward(tried, trial_bounds(tried), bounds)


def _again(tried: Sequence[TrialResult]) -> Trial | StopReason:
    """Repeat a trial that the client made invalid, a few times."""
    last = tried[-1].trial
    times = 0
    for result in reversed(tried):
        if result.verdict is not TrialVerdict.INVALID or result.trial.load != last.load:
            break
        times += 1
    return last if times <= MOST_REPEATS else StopReason.INVALID


def _onward(tried: Sequence[TrialResult], so_far: TrialBounds, bounds: SearchRange) -> Trial | StopReason:
    met, missed = so_far.met, so_far.missed
    if missed == bounds.low:
        verdicts = [
            result.verdict for result in tried if result.trial.thorough and result.trial.load == bounds.low
        ]
        return StopReason.LOW_MISSES if verdicts[-1] is TrialVerdict.MISSED else StopReason.INCONCLUSIVE
    if met == bounds.high:
        return _beyond_doubt(tried, met) or StopReason.HIGH_MEETS
    if met is not None and missed is not None and bounds.near(met, missed):
        return _beyond_doubt(tried, met) or StopReason.PRECISION
    if so_far.seems_missed is None:
        return _upward(so_far.seems_met or bounds.low, bounds)
    return Trial(_narrowing(tried, so_far, bounds), thorough=True)


def _beyond_doubt(tried: Sequence[TrialResult], met: float) -> Trial | None:
    """Repeat the final load, twice as long each time, while the verdict is in doubt."""
    last = next(result for result in reversed(tried) if result.trial.thorough and result.trial.load == met)
    if not last.doubtful or last.trial.extensions == MOST_EXTENSIONS:
        return None
    return Trial(met, thorough=True, extensions=last.trial.extensions + 1)


def _upward(top: float, bounds: SearchRange) -> Trial:
    """Multiply the load; the highest must be tried thoroughly."""
    if top >= bounds.high:
        return Trial(bounds.high, thorough=True)
    return Trial(min(bounds.rounded(SCOUTS_APART * top), bounds.high), thorough=False)


def _narrowing(tried: Sequence[TrialResult], so_far: TrialBounds, bounds: SearchRange) -> float:
    """A load between an apparently met and an apparently missed one; one of the two if near."""
    low, high = _or(so_far.seems_met, bounds.low), _or(so_far.seems_missed, bounds.high)
    if low >= high:
        return bounds.low
    only_seems = so_far.met is None or low > so_far.met
    if bounds.near(low, high):
        return low if only_seems else high
    if so_far.met is not None and so_far.missed is not None:
        return bounds.between(low, high)
    limit = _guess(tried, low, high)
    if limit is None:
        return bounds.between(low, high)
    times = sum(result.trial.thorough and not result.trial.extensions for result in tried)
    step = (1 + bounds.within) ** (2 ** max(0, times - 2))
    if so_far.met is not None:
        wanted = so_far.met * step
    elif so_far.missed is not None:
        wanted = so_far.missed / step
    else:
        wanted = limit / math.sqrt(1 + bounds.within)
    wanted = bounds.rounded(wanted)
    if wanted <= low and only_seems:
        return low
    return wanted if low < wanted < high else bounds.between(low, high)


def _guess(tried: Sequence[TrialResult], low: float, high: float) -> float | None:
    """The limit by the latest overloaded trial, thorough ones first, if between the bounds."""
    seen = [result for result in tried if result.limit is not None]
    best = next((result for result in reversed(seen) if result.trial.thorough), seen[-1] if seen else None)
    return (
        None if best is None or best.limit is None or not low * (1 - 0.1) < best.limit < high else best.limit
    )


def _or(value: float | None, otherwise: float) -> float:
    return otherwise if value is None else value
