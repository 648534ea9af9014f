"""Targets: a figure of the run compared with a bound, at the demanded confidence."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from rulesets.errors import Unanswerable
from rulesets.evaluators import client_delay, facts, figure
from rulesets.evaluators.rule_row import (
    NOT_MEASURED,
    Rule,
    RuleOutcome,
    bound_text,
    figure_text,
    is_asked_for,
)
from rulesets.expression import described
from rulesets.metric_table import BY_NAME
from rulesets.quantity import SCORES
from rulesets.request_metrics import TOKEN_COUNTS
from rulesets.target import meets

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from rulesets.definitions import Definitions
    from rulesets.evaluators.limit import ConfidenceLimit
    from rulesets.evaluators.rule_row import Case, Group, Status
    from rulesets.evidence import Evidence
    from rulesets.quantity import Kind, Need
    from rulesets.ruleset import Ruleset
    from rulesets.target import OnMissing, Target


_OF_A_KIND: Final[Mapping[Kind, tuple[str, ...]]] = {
    "latency": ("latency_origin", "failed_requests"),
    "length": TOKEN_COUNTS,
    "speed": TOKEN_COUNTS,
    "interactivity": (*BY_NAME["tpot"].depends_on, "failed_requests"),
    "throughput": ("throughput_window",),
    "good": ("latency_origin",),
}
"""The definitions that a kind of figure depends on; the table of metrics has those of a single one."""


def require_definitions(target: Target, wanted: Definitions, used: Definitions) -> None:
    """Check that a target's figure uses the definitions of the rules.

    Raises:
        Unanswerable: It is by others.
    """
    for name in _that_matter(target):
        asked, had = getattr(wanted, name), getattr(used, name)
        if asked != had:
            what = name.replace("_", " ")
            raise Unanswerable(
                f"the report was computed with {what} {_text(had)}, and the rules say {_text(asked)}",
                "evaluate the run's log, which any definition can be applied to",
            )


def _that_matter(target: Target) -> Iterator[str]:
    yield from _OF_A_KIND.get(target.quantity.kind, ())
    if target.percentile is not None:
        yield "percentile_method"
    if target.metric in BY_NAME:
        yield from BY_NAME[target.metric].depends_on


def _text(value: object) -> str:
    if isinstance(value, tuple):
        return ", ".join(map(str, value))
    return "a chosen one" if value is None else str(value)


MISSING: Final[Mapping[OnMissing, Status]] = {"fail": "FAIL", "skip": "SKIP", "inconclusive": "INCONCLUSIVE"}

_DISTRIBUTIONS: Final = ("latency", "length", "speed", "interactivity")

KINDS: Final = (
    *(f"{kind}.{how}" for kind in _DISTRIBUTIONS for how in ("figure", "effective", "order_stat")),
    *(f"{kind}.bootstrap" for kind in (*_DISTRIBUTIONS, "throughput", "share")),
    *(f"{kind}.batch_means" for kind in (*_DISTRIBUTIONS, "throughput", "share")),
    "latency.early_stopping.test",
    "latency.early_stopping.estimate",
    "length.early_stopping.test",
    "length.early_stopping.estimate",
    "throughput.figure",
    "share.figure",
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
    """One rule for each target that bounds a figure of this run."""
    return (_rule(target) for target in ruleset.targets if not target.delta)


def _rule(target: Target) -> Rule:
    return Rule(
        id=target.id,
        kind=f"{target.quantity.kind}.{_proof(target)}",
        group=group_of(target),
        text=described(target),
        evaluate=lambda case: evaluate(target, case),
        bound=None if target.is_only_shown else target.value,
        unit=target.unit,
        severity=target.severity,
        source=target.source,
    )


def group_of(target: Target) -> Group:
    """The section of a verdict that shows a target."""
    if target.metric.startswith(SCORES):
        return "accuracy"
    return "goodput" if target.metric == "good" else "target"


def _proof(target: Target) -> str:
    if target.confidence is None:
        return "figure"
    return ".".join(filter(None, (target.confidence.method, target.confidence.form)))


def evaluate(target: Target, case: Case) -> RuleOutcome:
    """Evaluate one target; inconclusive where the figure's uncertainty decides.

    Raises:
        Unanswerable: The evidence does not have the figure, or was computed by other definitions.
    """
    require_definitions(target, case.ruleset.definitions, case.run.definitions)
    if target.quantity.kind == "accuracy":
        from rulesets.evaluators.undecided import unscored_outcome

        if unknown := unscored_outcome(target, case.run):
            return unknown
    outcome = _evaluate(target, case, case.run)
    if outcome.status in {"PASS", "FAIL"} and client_delay.is_in_doubt(target, case.ruleset, case.run.report):
        from rulesets.evaluators.delay_decides import leaves_open

        if leaves_open(target, case.ruleset, case.run):
            return _client_in_doubt(target, outcome)
    if target.quantity.kind == "throughput" or target.stat == "rate":
        from rulesets.evaluators.undecided import with_clock_doubt

        outcome = with_clock_doubt(target, outcome, case.run)
    if target.quantity.kind not in _IN_DOUBT or outcome.status == "SKIP":
        return outcome
    ends = [_evaluate(target, case, run) for run in case.run.ends]
    if all(end.observed == outcome.observed and end.limit == outcome.limit for end in ends):
        return outcome
    return _in_doubt(target, outcome, ends)


_IN_DOUBT: Final = frozenset({"latency", "speed", "interactivity", "good"})
"""Kinds of figures that depend on when chunks arrived."""

_NOTEWORTHY: Final = 0.01
"""The share of a figure by which it must be in doubt to be shown as such."""


def _in_doubt(target: Target, outcome: RuleOutcome, ends: Sequence[RuleOutcome]) -> RuleOutcome:
    """The outcome of a figure known as an interval: both ends must agree."""
    shown = [end.observed for end in (outcome, *ends) if end.observed is not None]
    low, high = min(shown, default=0.0), max(shown, default=0.0)
    lowest, highest = (figure_text(end, target.value, target.unit) for end in (low, high))
    if high - low > _NOTEWORTHY * high:
        outcome = replace(outcome, method=f"{outcome.method}; in doubt: {lowest} to {highest}")
    if {end.status for end in ends} == {outcome.status} or outcome.status == "INCONCLUSIVE":
        return outcome
    name, asked = figure.name_of(target), bound_text(target.value, target.unit)
    return replace(
        outcome,
        status="INCONCLUSIVE",
        met=outcome.status != "FAIL",
        reason=f"the client was too busy to tell: {name} is between {lowest} and {highest}, "
        f"and {target.op} {asked} is required",
        remedy=AGAIN,
    )


def _client_in_doubt(target: Target, outcome: RuleOutcome) -> RuleOutcome:
    """The outcome of a figure that may contain too much client overhead."""
    return replace(
        outcome,
        status="INCONCLUSIVE",
        met=outcome.status != "FAIL",
        reason=f"the client was too busy to tell if too much of {figure.name_of(target)} is client overhead",
        remedy=AGAIN,
    )


AGAIN: Final = "chunks were read late: leave the client a free CPU, and measure again"
"""What to do where stamps are in doubt."""


def _evaluate(target: Target, case: Case, run: Evidence) -> RuleOutcome:
    seen = figure.observe(target, run)
    if seen.value is None:
        return missing(target, seen.n, case.report)
    sure = None if target.confidence is None else seen.limit(target.confidence)
    outcome = RuleOutcome(
        "PASS",
        _shown(target, seen.value),
        seen.n,
        "; ".join(filter(None, (seen.words, sure.words if sure else ""))),
        _shown(target, sure.value) if sure else None,
    )
    if not meets(target, seen.value):
        return replace(
            outcome,
            status="FAIL",
            reason=_why_missed(target, seen.value),
            remedy=_LEAVE_OUT if _takes_a_stream(target, case.report) else "",
        )
    if sure is None or (sure.value is not None and meets(target, sure.value)):
        return outcome
    return replace(
        outcome,
        status="INCONCLUSIVE",
        reason=_why_unsure(target, outcome, sure),
        remedy=sure.remedy or enough(sure.needed(target.op, target.bound)),
    )


def missing(target: Target, n: int, report: Mapping[str, Any]) -> RuleOutcome:
    """The outcome of a target without samples."""
    reason = is_asked_for(figure.name_of(target), None, target.op, target.value, target.unit)
    if target.quantity.kind == "accuracy":
        reason = f"the run has no score {target.metric.removeprefix(SCORES)}: {NOT_MEASURED}"
    if target.on_missing != "fail":
        reason = reason.replace(NOT_MEASURED, "not measured")
    return RuleOutcome(
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
    return f"{fallen}; required: {target.op} {bound_text(target.value, target.unit)}"


def _why_unsure(target: Target, outcome: RuleOutcome, sure: ConfidenceLimit) -> str:
    name, asked = figure.name_of(target), bound_text(target.value, target.unit)
    if sure.value is None:
        level = f" at {100 * target.confidence.level:g} % confidence" if target.confidence else ""
        if sure.remedy:
            return f"{name} cannot be confirmed{level}: {sure.words}"
        samples = _samples(target)
        return f"not enough {samples} to confirm {name}{level} ({outcome.n:,}; {sure.words})"
    limit = figure_text(_in_unit(target, sure.value), target.value, target.unit)
    return f"{name} meets {target.op} {asked}, but this is not confirmed: its {sure.words} is {limit}"


def _samples(target: Target) -> str:
    """The name of a figure's samples."""
    if target.quantity.kind == "accuracy":
        return "answers"
    return _SAMPLES.get(BY_NAME[target.metric].per, "requests")


_SAMPLES: Final = {"gap": "gaps between tokens", "session": "sessions"}


def enough(samples: int | None) -> str:
    """The number of samples that would decide, in words: two digits, rounded up."""
    if samples is None:
        return "more samples like these would not settle it"
    step = 10 ** max(len(str(samples)) - 2, 0)
    return f"about {-(-samples // step) * step:,} are needed"


def _shown(target: Target, value: float | None) -> float | None:
    """A figure in the target's unit; None for infinity, which JSON lacks."""
    return None if value is None or not math.isfinite(value) else target.in_unit(value)


def _in_unit(target: Target, value: float) -> float:
    return target.in_unit(value) if math.isfinite(value) else value


def _takes_a_stream(target: Target, report: Mapping[str, Any]) -> bool:
    """Whether a condition of a goodput is of a stream, and the run asked for none: so nothing was good."""
    return facts.run(report).get("stream") is False and any(
        "stream" in BY_NAME[condition.metric].needs for condition in target.conditions
    )


def _how_to_measure(target: Target, report: Mapping[str, Any]) -> str:
    if target.where:
        from rulesets.evaluators.undecided import tags_remedy

        return tags_remedy(target.where, report)
    if target.quantity.kind == "accuracy":
        return "run its benchmark (loadgen accuracy), or give a run that was scored with --accuracy"
    needs = BY_NAME[target.metric].needs
    return ", and ".join(_REMEDIES[need] for need in needs) or "issue requests that complete"


_LEAVE_OUT: Final = "ask for a stream (leave --no-stream out)"
_REMEDIES: Final[Mapping[Need, str]] = {
    "stream": _LEAVE_OUT,
    "tokens": "have tokens counted: by the server's usage, or with --tokenizer",
    "gpus": "measure with the number of GPUs that serve the model: --gpus N",
    "connections": "leave --connect-ahead out, so that requests open connections",
}
"""What to do where a metric has no samples, by what it needs."""
