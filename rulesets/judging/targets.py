"""Targets: a figure of the run held against its bound, and as sure as the target demands."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from rulesets.expression import described
from rulesets.judging import defined, facts, figure, tags, unscored
from rulesets.judging.rule import Outcome, Rule, figure_in_words, is_asked_for
from rulesets.quantity import COMPARE, SCORES

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from rulesets.judging.limit import Limit
    from rulesets.judging.row import Group, Status
    from rulesets.judging.rule import Case
    from rulesets.ruleset import Ruleset
    from rulesets.target import OnMissing, Target

MISSING: Final[Mapping[OnMissing, Status]] = {"fail": "FAIL", "skip": "SKIP", "inconclusive": "INCONCLUSIVE"}

KINDS: Final = (
    *(f"{kind}.{how}" for kind in ("latency", "length", "interactivity") for how in ("figure", "order_stat")),
    *(f"{kind}.bootstrap" for kind in ("latency", "length", "interactivity", "throughput")),
    *(f"{kind}.batch_means" for kind in ("latency", "length", "interactivity", "throughput")),
    "latency.early_stopping.test",
    "latency.early_stopping.estimate",
    "length.early_stopping.test",
    "length.early_stopping.estimate",
    "throughput.figure",
    "error.figure",
    "error.wilson",
    "good.figure",
    "good.wilson",
    "count.figure",
    "accuracy.figure",
    "accuracy.normal",
    "accuracy.wilson",
)
"""What is bounded, and by which confidence; `figure` without any."""


def rules(ruleset: Ruleset) -> Iterator[Rule]:
    """One rule for each target that bounds a figure of the run itself."""
    return (_rule(target) for target in ruleset.targets if not target.delta)


def _rule(target: Target) -> Rule:
    return Rule(
        id=target.id,
        kind=f"{target.quantity.kind}.{_proof(target)}",
        group=group_of(target),
        text=described(target),
        judge=lambda case: judge(target, case),
        bound=None if target.is_only_shown else target.value,
        unit=target.unit,
        severity=target.severity,
        source=target.source,
    )


def group_of(target: Target) -> Group:
    """Where a target stands in a verdict."""
    if target.metric.startswith(SCORES):
        return "accuracy"
    return "goodput" if target.metric == "good" else "target"


def _proof(target: Target) -> str:
    if target.confidence is None:
        return "figure"
    return ".".join(filter(None, (target.confidence.method, target.confidence.form)))


def judge(target: Target, case: Case) -> Outcome:
    """Judge a run by one target.

    Raises:
        Unanswerable: The evidence cannot tell, or was computed by other definitions.
    """
    defined.require(target, case.ruleset.definitions, case.run.definitions)
    if target.quantity.kind == "accuracy" and (unknown := unscored.judge(target, case.run)):
        return unknown
    seen = figure.observe(target, case.run)
    if seen.value is None:
        return missing(target, seen.n, case.report)
    sure = None if target.confidence is None else seen.limit(target.confidence)
    found = Outcome(
        "PASS",
        _shown(target, seen.value),
        seen.n,
        "; ".join(filter(None, (seen.words, sure.words if sure else ""))),
        _shown(target, sure.value) if sure else None,
    )
    if not COMPARE[target.op](seen.value, target.bound):
        return replace(
            found,
            status="FAIL",
            reason=_why_missed(target, seen.value),
            remedy=_LEAVE_OUT if _takes_a_stream(target, case.report) else "",
        )
    if sure is None or (sure.value is not None and COMPARE[target.op](sure.value, target.bound)):
        return found
    return replace(
        found,
        status="INCONCLUSIVE",
        reason=_why_unsure(target, found, sure),
        remedy=sure.remedy or enough(sure.needed(target.op, target.bound)),
    )


def missing(target: Target, n: int, report: Mapping[str, Any]) -> Outcome:
    """What becomes of a target that nothing was measured of.

    Args:
        target: The target.
        n: How many samples there were to measure it of.
        report: Of the run.
    """
    reason = is_asked_for(figure.name_of(target), None, target.op, target.value, target.unit)
    if target.quantity.kind == "accuracy":
        reason = (
            f"the run has no score {target.metric.removeprefix(SCORES)}, and what was not measured is not met"
        )
    return Outcome(
        MISSING[target.on_missing],
        n=n,
        reason=reason,
        remedy=_how_to_measure(target, report),
    )


def _why_missed(target: Target, value: float) -> str:
    name, shown = figure.name_of(target), _in_unit(target, value)
    if math.isfinite(value):
        return is_asked_for(name, shown, target.op, target.value, target.unit)
    fallen = f"{name} falls on failed requests, which exceed every bound"
    if target.is_only_shown:
        return f"{fallen}: there is no figure"
    return f"{fallen}, and {target.op} {figure_in_words(target.value, target.unit)} is asked for"


def _why_unsure(target: Target, found: Outcome, sure: Limit) -> str:
    name, asked = figure.name_of(target), figure_in_words(target.value, target.unit)
    if sure.value is None:
        return f"{found.n:,} samples are too few to be sure of {name}: {sure.words}"
    at = figure_in_words(_in_unit(target, sure.value), target.unit)
    return f"{name} meets {target.op} {asked}, but not for sure: its {sure.words} is {at}"


def enough(samples: int | None) -> str:
    """Say how many samples would settle it: two digits of the number, rounded up."""
    if samples is None:
        return "more samples would not settle it, as long as they are like these"
    step = 10 ** max(len(str(samples)) - 2, 0)
    return f"about {-(-samples // step) * step:,} samples would settle it"


def _shown(target: Target, value: float | None) -> float | None:
    """A figure in the target's unit; None where it is infinite, which JSON has no number for."""
    return None if value is None or not math.isfinite(value) else target.in_unit(value)


def _in_unit(target: Target, value: float) -> float:
    return target.in_unit(value) if math.isfinite(value) else value


def _takes_a_stream(target: Target, report: Mapping[str, Any]) -> bool:
    """Whether a condition of a goodput is of a stream, and the run asked for none: so nothing was good."""
    return facts.run(report).get("stream") is False and any(
        _MEASURE.get(one.metric, "").startswith(_STREAM) for one in target.conditions
    )


def _how_to_measure(target: Target, report: Mapping[str, Any]) -> str:
    if target.where:
        return tags.remedy(target.where, report)
    if target.quantity.kind == "accuracy":
        return "run its benchmark (loadgen accuracy), or give a run that was scored with --accuracy"
    return _MEASURE.get(target.metric, "issue requests that complete")


_TOKENS: Final = "have tokens counted: by the server's usage, or with --tokenizer"
_STREAM: Final = "ask for a stream"
_LEAVE_OUT: Final = f"{_STREAM} (leave --no-stream out)"
_STREAMED: Final = ("ttft", "ttfo", "ttfv", "last_token")
_MEASURE: Final = {
    **dict.fromkeys((*_STREAMED, *(f"{one}_from_schedule" for one in _STREAMED), "itl"), _LEAVE_OUT),
    **dict.fromkeys(("tpot", "tps_per_user"), f"{_LEAVE_OUT}, and {_TOKENS}"),
    **dict.fromkeys(("output_tps", "total_tps", "output_tokens", "input_tokens"), _TOKENS),
    "tps_per_gpu": "measure with the number of GPUs that serve the model: --gpus N",
    "connect": "leave --connect-ahead out, so that requests open connections",
}
"""What to do where a metric has no samples."""
