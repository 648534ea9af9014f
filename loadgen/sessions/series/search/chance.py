"""Whether a requirement is met or missed beyond chance."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

from loadgen.sessions.series.search.strategy import TrialVerdict
from rulesets.statistics import order_statistics
from rulesets.statistics.binomial import at_most
from rulesets.statistics.probability import exactly

if TYPE_CHECKING:
    from reporter.report import Summary
    from rulesets.target import Target

DOUBT: Final = 0.05
"""A verdict is clear if chance alone would give the observation less often than this."""

_NORMAL: Final = 1.645
"""Standard deviations that a normal figure is farther off than with probability DOUBT, on one side."""


def of_share(over: int, count: int, allowed: float, doubt: float = DOUBT) -> TrialVerdict:
    """Whether the share of requests over a bound is below the allowed share: two exact binomial tests.

    Args:
        over: The number over it.
        count: The number of samples.
        allowed: The allowed share: 0.01 for a p99.
        doubt: How often chance alone may give a clear result.
    """
    if not count:
        return TrialVerdict.MISSED
    if allowed <= 0:
        return TrialVerdict.MISSED if over else TrialVerdict.MET
    if at_most(over, count, allowed) < doubt:
        return TrialVerdict.MET
    if over and 1 - at_most(over - 1, count, allowed) < doubt:
        return TrialVerdict.MISSED
    return TrialVerdict.UNCLEAR


def of_mean(summary: Summary | None, bound: float) -> TrialVerdict:
    """Whether a mean is below a bound, by the standard error."""
    if summary is None:
        return TrialVerdict.MISSED
    error = (summary.std or 0.0) / math.sqrt(summary.count) * _NORMAL
    if abs(summary.mean - bound) < error:
        return TrialVerdict.UNCLEAR
    return TrialVerdict.MET if summary.mean <= bound else TrialVerdict.MISSED


def fewest(target: Target) -> int:
    """The fewest samples that meet a requirement clearly, with none over the bound."""
    allowed = allowed_share(target)
    if allowed is None or allowed <= 0:
        return 0
    return order_statistics.fewest(1 - exactly(allowed), 1 - exactly(doubt_of(target)))


def doubt_of(target: Target) -> float:
    """The doubt that a target allows: 1 - confidence, if any."""
    return DOUBT if target.confidence is None else float(1 - exactly(target.confidence.level))


def allowed_share(target: Target) -> float | None:
    """The share of samples that may be over the bound; None for any figure but a percentile or a share."""
    if target.quantity.kind == "error":
        return target.bound
    if target.quantity.kind == "good":
        return float(1 - exactly(target.bound))
    return None if target.percentile is None else float(1 - target.percentile)
