"""Whether a target is certain to be missed while a run is still going on.

Where the number of requests is known, that is counting: more of them miss the bound already than all that
there will be leave room for. Where only time ends the run, it is the exact lower limit of the share that
misses (Clopper and Pearson), at a confidence of 1 - 1e-6 and on 100 samples at least; this takes the requests
to come for requests like those before. Either way, requests in flight count as good.

Where stamps are uncertain, a request misses a bound only if both ends of its figure's interval do.

A rate is never lost before its end, nor is a mean without a number of requests, a minimum, what is bounded
below, a change from a baseline, a score, or a part of the requests.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from lazy_dataclasses import dataclass
from rulesets.quantity import COMPARE
from rulesets.session_metrics import SESSION_ERROR
from rulesets.statistics import clopper_pearson

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from rulesets.target import Target

LEVEL: Final = Fraction(999_999, 1_000_000)
"""How sure it must be that a target is lost, where it cannot be counted out."""

ENOUGH: Final = 100
"""Fewer samples decide nothing."""

Ending = Literal["completed", "failed", "cancelled"]


class FigureBounds(NamedTuple):
    """The minimum and maximum of a request's figure; equal unless stamps are in doubt."""

    low: float
    high: float


@dataclass(frozen=True, slots=True)
class RunState:
    """The measured requests of a run up to now.

    Attributes:
        planned: The most that are issued; None where only time ends the run.
    """

    planned: int | None
    issued: int
    completed: int
    failed: int
    cancelled: int

    @property
    def ended(self) -> int:
        """The number of requests that have ended."""
        return self.completed + self.failed + self.cancelled

    @property
    def in_flight(self) -> int:
        """The number of requests that have not ended."""
        return self.issued - self.ended

    def greatest(self, metric: str) -> float:
        """The greatest that a count can still become."""
        if self.planned is None:
            return math.inf
        here: int = getattr(self, metric)
        return self.planned if metric == "issued" else self.planned - self.ended + here


def can_be_lost(target: Target, figures: Collection[str]) -> bool:
    """Tell whether a target can be lost before a run is over."""
    if target.delta or target.where or target.metric == SESSION_ERROR:
        return False
    match target.quantity.kind:
        case "error" | "count":
            return True
        case "good":
            return target.stat != "rate" and all(
                condition.metric in figures for condition in target.conditions
            )
        case "latency" | "length" | "interactivity":
            has_figure = _figure_of(target) in figures and target.stat != "min"
            return has_figure and (target.op in {"<", "<="} or target.quantity.kind == "interactivity")
        case _:
            return False


class TargetWatch:
    """Watches one target that can be lost.

    Args:
        target: A target for which `can_be_lost` holds.
        failed_exceed: Whether a failed request exceeds every bound of a latency.
    """

    def __init__(self, target: Target, *, failed_exceed: bool) -> None:
        self.target = target
        self._failed_exceed = failed_exceed and target.quantity.kind == "latency"
        # A bound is an exact calculation, and every request is compared with it.
        self._bound = target.bound
        self._conditions = [
            (condition.metric, COMPARE[condition.op], condition.bound) for condition in target.conditions
        ]
        self._samples = 0
        self._missing = 0
        self._totals = FigureBounds(0.0, 0.0)

    @property
    def metrics(self) -> frozenset[str]:
        """The metrics that `add` reads the figures of."""
        match self.target.quantity.kind:
            case "error" | "count":
                return frozenset()
            case "good":
                return frozenset(condition.metric for condition in self.target.conditions)
            case _:
                return frozenset({_figure_of(self.target)})

    def add(self, ending: Ending, figures: Mapping[str, FigureBounds]) -> None:
        """Add a request that is over.

        Args:
            ending: How it ended.
            figures: If it completed, its latencies in ms and its lengths in tokens by metric.
        """
        if ending == "cancelled":
            return
        if self.target.quantity.kind == "good":
            self._count_sample(misses=ending == "failed" or not self._can_be_good(figures))
        elif ending == "failed":
            if self._failed_exceed and self.target.stat != "mean":
                self._count_sample(misses=True)
        elif (figure := figures.get(_figure_of(self.target))) is not None:
            low, high = figure
            self._totals = FigureBounds(self._totals.low + low, self._totals.high + high)
            self._count_sample(misses=not (self._meets(low) or self._meets(high)))

    def failed_because(self, so_far: RunState) -> str | None:
        """The reason why the target is lost, as a sentence; None while undecided."""
        by_stat = {"mean": self._mean, "max": self._greatest}
        by_kind = {"count": self._count, "error": self._errors, "good": self._goods}
        kind, stat = self.target.quantity.kind, self.target.stat
        return by_kind.get(kind, by_stat.get(stat, self._percentile))(so_far)

    def _count_sample(self, *, misses: bool) -> None:
        self._samples += 1
        self._missing += misses

    def _can_be_good(self, figures: Mapping[str, FigureBounds]) -> bool:
        """Whether a request can still meet all conditions; unknown figures can meet any."""
        return all(
            any(compare(value, bound) for value in figures[metric])
            for metric, compare, bound in self._conditions
            if metric in figures
        )

    def _meets(self, figure: float) -> bool:
        if self.target.quantity.kind == "interactivity":
            figure = 1000 / figure if figure else math.inf
        return COMPARE[self.target.op](figure, self._bound)

    def _greatest_samples(self, so_far: RunState) -> int | None:
        """The most samples that there can be; None where that is unknown."""
        if so_far.planned is None:
            return None
        without = 0 if self._failed_exceed or self.target.quantity.kind == "good" else so_far.failed
        return so_far.planned - so_far.cancelled - without

    def _percentile(self, so_far: RunState) -> str | None:
        p, samples = self.target.percentile or Fraction(0), self._greatest_samples(so_far)
        allowed = _may_miss(self._samples + so_far.in_flight if samples is None else samples, p)
        if self._missing <= allowed:
            return None
        if samples is not None:
            return f"{_of(self._missing, self._samples)} miss it, and of {samples:,} at most {allowed:,} may"
        return self._surely_more_than(1 - p, self._missing, self._samples, "miss it")

    def _mean(self, so_far: RunState) -> str | None:
        samples = self._greatest_samples(so_far)
        if not samples or any(self._meets(total / samples) for total in self._totals):
            return None
        return f"{self._samples:,} samples add up to more than {samples:,} may"

    def _greatest(self, _: RunState) -> str | None:
        return f"{_of(self._missing, self._samples)} miss it" if self._missing else None

    def _errors(self, so_far: RunState) -> str | None:
        """The error rate: those that are planned may all end well."""
        failed, ended, bound = so_far.failed, so_far.ended, self.target.bound
        requests = ended + so_far.in_flight if so_far.planned is None else so_far.planned
        if not failed or COMPARE[self.target.op](failed / requests, bound):
            return None
        if so_far.planned is None:
            return self._surely_more_than(bound, failed, ended, "failed")
        return f"{_of(failed, ended)} failed, which is too many of {requests:,}"

    def _goods(self, so_far: RunState) -> str | None:
        """The loss of a goodput target: all outstanding requests may still be good."""
        bad, bound, planned = self._missing, self.target.bound, self._greatest_samples(so_far)
        requests = self._samples + so_far.in_flight if planned is None else planned
        if self.target.stat == "count":
            missed = planned is not None and not COMPARE[self.target.op](requests - bad, bound)
        else:
            missed = bad > 0 and not COMPARE[self.target.op]((requests - bad) / requests, bound)
        if not missed:
            return None
        if planned is None:
            return self._surely_more_than(1 - bound, bad, self._samples, "are not good")
        return f"{_of(bad, self._samples)} are not good, which is too many of {requests:,}"

    def _count(self, so_far: RunState) -> str | None:
        """The loss of a count target: counts only grow, up to the plan."""
        least, greatest = getattr(so_far, self.target.metric), so_far.greatest(self.target.metric)
        bound, compare = self.target.bound, COMPARE[self.target.op]
        within = (least, greatest, bound) if least <= bound <= greatest else (least, greatest)
        if any(compare(count, bound) for count in within):
            return None
        return f"{self.target.metric} is {least:,} already" if least >= bound else f"at most {greatest:,}"

    @staticmethod
    def _surely_more_than(share: Fraction | float, bad: int, of: int, what: str) -> str | None:
        if of < ENOUGH or clopper_pearson.lower(bad, of, LEVEL) <= share:
            return None
        return f"{_of(bad, of)} {what}, which leaves a chance below one in a million"


def _figure_of(target: Target) -> str:
    return "tpot" if target.quantity.kind == "interactivity" else target.metric


def _may_miss(samples: int, p: Fraction) -> int:
    """The number of samples that may miss a bound that the percentile meets, by the most generous method.

    The smallest value that any method uses has rank floor((n - 1) p), from 0.
    """
    return samples - 1 - math.floor((samples - 1) * p)


def _of(count: int, of: int) -> str:
    return f"{count:,} of {of:,} so far"
