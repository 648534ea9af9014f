"""The requirements of a search: bounds that more load can only approach."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

from lazy_dataclasses import dataclass
from loadgen.sessions.errors import UsageError
from loadgen.sessions.gating.reference import read_rules
from loadgen.sessions.series.search.strategy import TrialVerdict
from rulesets.evaluators.targets import group_of
from rulesets.quantity import spell
from rulesets.statistics import order_statistics
from rulesets.statistics.binomial import at_most
from rulesets.statistics.probability import exactly
from rulesets.target import Target

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reporter.report import Summary
    from rulesets.definitions import Definitions
    from rulesets.ruleset import Ruleset

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


_PROVED: Final = frozenset({("early_stopping", "test"), ("effective", None), ("order_stat", None)})
"""The confidence methods of percentiles that a search can use too: by the number over the bound."""

_MOST_ERRORS: Final = "validity.max_error_rate"


@dataclass(frozen=True, slots=True)
class Required:
    """The requirements of a search."""

    targets: tuple[Target, ...]
    definitions: Definitions


def required_of(
    require: Sequence[str],
    ruleset: str | None,
    scenario: str | None = None,
    model: str | None = None,
    skip: Sequence[str] = (),
) -> Required:
    """The requirements of a search."""
    rules = read_rules(require, ruleset, scenario=scenario, model=model)
    if rules is None:
        raise UsageError("nothing is required: give a target, e.g. --require 'ttft:p(99)<2s'")
    targets = [target for target in _demands(rules) if not _names(target) & set(skip)]
    for target in targets:
        if why := _why_not(target, rules.definitions):
            further = "" if ruleset is None else f"; leave it out with --skip '{target.id}'"
            raise UsageError(f"{target.id}: {why}{further}")
    if not targets:
        raise UsageError("nothing is required: all rules are left out (--skip)")
    return Required(tuple(targets), rules.definitions)


def fewest_samples(required: Required) -> int:
    """The fewest requests that can meet all requirements clearly."""
    return max(map(fewest, required.targets))


def _demands(rules: Ruleset) -> list[Target]:
    """The targets, and the error rate that makes a run invalid, which grows with load too."""
    error_rate = rules.validity.max_error_rate
    if error_rate is None:
        return list(rules.targets)
    return [*rules.targets, Target("error", "rate", "<=", error_rate, "", id=_MOST_ERRORS)]


def _names(target: Target) -> set[str]:
    return {target.id, "validity" if target.id == _MOST_ERRORS else group_of(target)}


def _why_not(target: Target, definitions: Definitions) -> str | None:
    """The reason why a search cannot use a target; None for a usable target."""
    counted_here = definitions.token_source == "client_tokenizer"  # noqa: S105 (who counts, and no secret)
    proof = target.confidence
    reasons = {
        "a search compares nothing with a baseline": target.delta,
        "a search needs a bound on a latency, error rate, percentile of tps_per_user or share of "
        f"good requests; {target.metric}:{spell(target.stat)} is not such a figure": not _is_bound(target),
        f"a target that is only shown ({target.severity}) cannot be searched for": target.severity != "fail",
        "a search is about all requests": bool(target.where),
        "a search proves it in its own way (docs/searches.md): leave the confidence out": proof is not None
        and (proof.method, proof.form) not in _PROVED,
        "the target needs tokens counted by a tokenizer, but in a search the server counts": counted_here
        and "tpot" in _latencies(target),
    }
    return next((why for why, holds in reasons.items() if holds), None)


def _is_bound(target: Target) -> bool:
    """Whether more load can only approach the bound."""
    match target.quantity.kind:
        case "latency" | "error":
            return True
        case "good":
            return target.stat == "fraction"
        case kind:
            return kind == "interactivity" and target.percentile is not None


def _latencies(target: Target) -> set[str]:
    by_kind = {"good": {condition.metric for condition in target.conditions}, "interactivity": {"tpot"}}
    return by_kind.get(target.quantity.kind, {target.metric})
