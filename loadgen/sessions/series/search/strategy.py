"""Which load to try next, from what came of those before: bracketing, then narrowing. Pure.

Short trials (scouts) take four times the load from the lowest on until one misses. From there on trials are
thorough: long enough for their verdict to be more than chance, and repeated twice as long while it is not
clear. Where a scout was overloaded, what it completed a second tells about where the limit is, and the first
thorough trial is just below; else it is in the middle. Each next one is a step up from one that met, or down
from one that missed, and from the third on each is twice as wide as the one before; or in the middle, once
there are both. All steps and middles are on a logarithmic scale. What is to be the result is repeated,
longer, while an endpoint that falls behind slowly could have met as well.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

MOST_EXTENSIONS: Final = 2
"""So often a thorough trial that is not clear is repeated, each time twice as long."""

MOST_REPEATS: Final = 2
"""So often a trial is repeated that the client spoilt."""

MOST_TRIALS: Final = 80
HIGHEST: Final = {"rate": 100_000.0, "concurrency": 10_000.0}
"""The highest load that can be searched, by axis."""
SCOUTS_APART: Final = 4
_DIGITS: Final = 4
_SLACK: Final = 1e-9


class TrialVerdict(StrEnum):
    """What a trial says of its load."""

    MET = "met"
    MISSED = "missed"
    UNCLEAR = "unclear"
    """It met or missed a requirement, but chance may have had it do so."""
    INVALID = "invalid"
    """The client spoilt it: it says nothing of the server."""


class StopReason(StrEnum):
    """Why a search is over."""

    PRECISION = "precision"
    """What met and what did not are near enough to each other."""
    LOW_MISSES = "low_misses"
    """Even the lowest load did not meet the requirements."""
    HIGH_MEETS = "high_meets"
    """Even the highest load met them."""
    INCONCLUSIVE = "inconclusive"
    """Whether the lowest load met them, or the highest, did not become clear."""
    INVALID = "invalid"
    """The client spoilt every attempt at a load."""
    BUDGET = "budget"
    """The time was over."""
    INTERRUPTED = "interrupted"
    """Somebody ended it."""


@dataclass(frozen=True, slots=True)
class SearchRange:
    """What is searched.

    Attributes:
        low: The lowest load.
        high: The highest.
        within: How near to each other what met and what did not have to be, as a share of the former.
        whole: Whether loads are whole numbers.
    """

    low: float
    high: float
    within: float
    whole: bool

    def near(self, met: float, missed: float) -> bool:
        """Whether nothing worth a trial lies between."""
        return missed <= met * (1 + self.within) * (1 + _SLACK) or (self.whole and missed - met <= 1)

    def rounded(self, load: float) -> float:
        """A load with as many digits as matter, within the bounds."""
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
        load: Requests a second, or users.
        thorough: Whether its verdict is to be more than a hint.
        extensions: How often it has been repeated because it was not clear: each time it is twice as long.
    """

    load: float
    thorough: bool
    extensions: int = 0


@dataclass(frozen=True, slots=True)
class TrialResult:
    """A trial and what came of it.

    Attributes:
        trial: What was tried.
        verdict: What it says.
        limit: Where the limit may be, from what an overloaded endpoint completed; None where it was not.
        doubtful: Whether an endpoint that falls behind slowly could have met as well.
    """

    trial: Trial
    verdict: TrialVerdict
    limit: float | None = None
    doubtful: bool = False


@dataclass(frozen=True, slots=True)
class Known:
    """What all trials together say; None is not known. A hint counts until a thorough trial contradicts it.

    Attributes:
        met: The highest load that met, thoroughly, below all that did not.
        missed: The lowest that did not, or of which it could not be made clear.
        seems_met: The highest that met, be it a hint; never below `met`.
        seems_missed: The lowest that did not, be it a hint; never above `missed`.
    """

    met: float | None
    missed: float | None
    seems_met: float | None
    seems_missed: float | None


def known(tried: Sequence[TrialResult]) -> Known:
    """What trials say together."""
    thorough = {one.trial.load: one.verdict for one in tried if one.trial.thorough}
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
    scouts = [one for one in tried if not one.trial.thorough and one.trial.load not in thorough]
    hints_met = [one.trial.load for one in scouts if one.verdict in {TrialVerdict.MET, TrialVerdict.UNCLEAR}]
    hints_missed = [one.trial.load for one in scouts if one.verdict is TrialVerdict.MISSED]
    above = [load for load in (missed, *hints_missed) if load is not None and load > _or(met, 0.0)]
    seems_missed = min(above, default=None)
    below = [load for load in (met, *hints_met) if load is not None and load < _or(seems_missed, math.inf)]
    return Known(met, missed, max(below, default=None), seems_missed)


def next_step(tried: Sequence[TrialResult], bounds: SearchRange) -> Trial | StopReason:
    """What to try next, or why nothing."""
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
    return _onward(tried, known(tried), bounds)


def _again(tried: Sequence[TrialResult]) -> Trial | StopReason:
    """Repeat a trial that the client spoilt, a few times."""
    last = tried[-1].trial
    times = 0
    for one in reversed(tried):
        if one.verdict is not TrialVerdict.INVALID or one.trial.load != last.load:
            break
        times += 1
    return last if times <= MOST_REPEATS else StopReason.INVALID


def _onward(tried: Sequence[TrialResult], so_far: Known, bounds: SearchRange) -> Trial | StopReason:
    met, missed = so_far.met, so_far.missed
    if missed == bounds.low:
        verdicts = [one.verdict for one in tried if one.trial.thorough and one.trial.load == bounds.low]
        return StopReason.LOW_MISSES if verdicts[-1] is TrialVerdict.MISSED else StopReason.INCONCLUSIVE
    if met == bounds.high:
        return _beyond_doubt(tried, met) or StopReason.HIGH_MEETS
    if met is not None and missed is not None and bounds.near(met, missed):
        return _beyond_doubt(tried, met) or StopReason.PRECISION
    if so_far.seems_missed is None:
        return _upward(so_far.seems_met or bounds.low, bounds)
    return Trial(_narrowing(tried, so_far, bounds), thorough=True)


def _beyond_doubt(tried: Sequence[TrialResult], met: float) -> Trial | None:
    """Repeat what is to be the result, twice as long each time, while it is in doubt."""
    last = next(one for one in reversed(tried) if one.trial.thorough and one.trial.load == met)
    if not last.doubtful or last.trial.extensions == MOST_EXTENSIONS:
        return None
    return Trial(met, thorough=True, extensions=last.trial.extensions + 1)


def _upward(top: float, bounds: SearchRange) -> Trial:
    """Take a multiple of the load; the highest has to be tried thoroughly."""
    if top >= bounds.high:
        return Trial(bounds.high, thorough=True)
    return Trial(min(bounds.rounded(SCOUTS_APART * top), bounds.high), thorough=False)


def _narrowing(tried: Sequence[TrialResult], so_far: Known, bounds: SearchRange) -> float:
    """A load between what seems to be met and what does not; one of the two where they are near."""
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
    times = sum(one.trial.thorough and not one.trial.extensions for one in tried)
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
    """Where the latest overloaded trial, a thorough one first, sees the limit, when that is between."""
    seen = [one for one in tried if one.limit is not None]
    best = next((one for one in reversed(seen) if one.trial.thorough), seen[-1] if seen else None)
    return (
        None if best is None or best.limit is None or not low * (1 - 0.1) < best.limit < high else best.limit
    )


def _or(value: float | None, otherwise: float) -> float:
    return otherwise if value is None else value
