"""What chance may have done to a figure, and whether a requirement is met or missed beyond it."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

from cli.searching.strategy import Verdict

if TYPE_CHECKING:
    from reporter.report import Summary
    from rulesets.target import Target

DOUBT: Final = 0.05
"""A verdict is clear when chance alone would bring about what was seen less often than this."""

_NORMAL: Final = 1.645
"""Standard deviations that a normal figure is farther off than with probability DOUBT, on one side."""


def of_share(over: int, count: int, allowed: float) -> Verdict:
    """Whether the share of those over a bound is below what is allowed: an exact binomial test, both ways.

    Args:
        over: How many are over it.
        count: Of how many.
        allowed: The share that may be: 0.01 for a p99.
    """
    if not count:
        return Verdict.MISSED
    if allowed <= 0:
        return Verdict.MISSED if over else Verdict.MET
    if _at_most(over, count, allowed) < DOUBT:
        return Verdict.MET
    if over and 1 - _at_most(over - 1, count, allowed) < DOUBT:
        return Verdict.MISSED
    return Verdict.UNCLEAR


def of_mean(summary: Summary | None, bound: float) -> Verdict:
    """Whether a mean is below a bound, by its standard error."""
    if summary is None:
        return Verdict.MISSED
    error = (summary.std or 0.0) / math.sqrt(summary.count) * _NORMAL
    if abs(summary.mean - bound) < error:
        return Verdict.UNCLEAR
    return Verdict.MET if summary.mean <= bound else Verdict.MISSED


def fewest(target: Target) -> int:
    """So many samples it takes at least for a requirement to be met clearly, with none over the bound."""
    allowed = allowed_share(target)
    return 0 if allowed is None or allowed <= 0 else math.ceil(math.log(DOUBT) / math.log1p(-allowed))


def allowed_share(target: Target) -> float | None:
    """The share of the samples that may be over the bound; None for what is no percentile and no share."""
    if target.quantity.kind == "error":
        return target.bound
    if target.stat.startswith("p"):
        return 1 - float(target.stat[1:]) / 100
    return None


def _at_most(over: int, count: int, share: float) -> float:
    """The probability of at most so many of a binomial distribution."""
    if over >= count:
        return 1.0
    log_share, log_rest = math.log(share), math.log1p(-share)
    logs = (
        math.lgamma(count + 1)
        - math.lgamma(k + 1)
        - math.lgamma(count - k + 1)
        + k * log_share
        + (count - k) * log_rest
        for k in range(over + 1)
    )
    return min(1.0, math.fsum(map(math.exp, logs)))
