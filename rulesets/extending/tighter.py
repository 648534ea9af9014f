"""Whether a rule is at least as strict as the rule that it replaces.

At least as strict means: whatever run passes it would have passed the other.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from rulesets import bounds
from rulesets.definitions import Definitions
from rulesets.demands import Baseline
from rulesets.reading.section_rules import shown

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from rulesets.condition import Condition
    from rulesets.demands import AuditDemand, Confidence
    from rulesets.reading.section_rules import Key, Rules, RuleShape
    from rulesets.target import Target

_SEVERITIES: Final = ("info", "warn", "fail")
_ON_MISSING: Final = ("skip", "inconclusive", "fail")
"""The more lenient first."""

Looser = str | None
"""Why a rule is looser than another; None where it is not."""


def loosened(before: Rules, after: Rules) -> Iterator[tuple[Key, str]]:
    """Find the rules that became looser or disappeared."""
    for key, rule in before.items():
        if key not in after:
            yield key, "dropped"
        elif (why := _looser(key, rule.value, after[key].value)) is not None:
            yield key, why
    for key, rule in after.items():
        if key not in before and (why := _new(key, rule, before)) is not None:
            yield key, why


def _looser(key: Key, before: Any, after: Any) -> Looser:
    section, _ = key
    if section == "report" or before == after:
        return None
    how = _RULES.get(key) or _RULES.get((section, ANY)) or _other
    return how(before, after)


ANY: Final = "*"


def _new(key: Key, rule: RuleShape, before: Rules) -> Looser:
    """The reason why a new rule loosens others: an absent rule has a default."""
    section, name = key
    if section == "definitions":
        default = getattr(Definitions(), name)
        wording = "left open" if default is None else shown(default)
        return None if rule.value == default else f"its {name} is {wording}"
    if section == "baseline" and any(there == "baseline" for there, _ in before):
        return _looser(key, getattr(Baseline(), name), rule.value)
    if section == "sweep.search" and any(there == section for there, _ in before):
        return f"its {name} is left at the default"
    if key == ("validity", "warn") and rule.value:
        return f"only warns of {shown(rule.value)}"
    if key == ("sweep.points", "regions") and ("sweep.points", "min") in before:
        return "counts points without regions, where none may stand for Offline"
    return None


def _other(before: Any, after: Any) -> Looser:
    return f"{shown(before)}, not {shown(after)}"


def _less(before: Any, after: Any) -> Looser:
    return f"at least {shown(before)}" if after < before else None


def _more(before: Any, after: Any) -> Looser:
    return f"at most {shown(before)}" if after > before else None


def _not_any_more(before: Any, after: Any) -> Looser:
    return shown(before) if before in {True, "required"} and after != before else None


def _no_further(before: Sequence[str], after: Sequence[str]) -> Looser:
    return shown(before) if set(after) - set(before) else None


def _ref(before: Any, after: Any) -> Looser:
    return _other(before, after) if before else None


def _range(before: Mapping[str, int], after: Mapping[str, int]) -> Looser:
    """Compare concurrency ranges: no smaller minimum, no greater maximum; equal points of a sweep."""
    if {"from", "to"} & {*before, *after}:
        return _other(dict(before), dict(after))
    low = after.get("min", 0) >= before.get("min", 0)
    high = "max" not in before or after.get("max", before["max"] + 1) <= before["max"]
    return None if low and high else shown(before)


def _runs(before: Mapping[str, Any], after: Mapping[str, Any]) -> Looser:
    if before["combine"] != after["combine"]:
        return f"{before['combine']} of {before['runs']} runs"
    return _less(before["runs"], after["runs"])


def _audit(before: AuditDemand, after: AuditDemand) -> Looser:
    for name, value in before.parameters.items():
        if name not in after.parameters:
            return f"its {name} is {shown(value)}"
        why = _PARAMETERS.get(name, _other)(value, after.parameters[name])
        if after.parameters[name] != value and why is not None:
            return f"its {name}: {why}"
    if before.name == "perf_mode_accuracy" and not before.parameters and after.parameters:
        return "for the first gate of accuracy"
    return None


_PARAMETERS: Final[Mapping[str, Callable[[Any, Any], Looser]]] = {
    "min": _less,
    "max": _more,
    "threshold": _more,
    "tolerance": _more,
}


def _target(before: Target, after: Target) -> Looser:
    alike = (before.metric, before.stat, before.where, before.delta) == (
        after.metric,
        after.stat,
        after.where,
        after.delta,
    )
    if not alike or not _conditions(before, after):
        return "about another figure"
    if not bounds.of(after).inside(bounds.of(before)):
        return f"{shown(before)} there, and {shown(after)} is looser"
    if _SEVERITIES.index(after.severity) < _SEVERITIES.index(before.severity):
        return f"its severity is {before.severity}"
    if _ON_MISSING.index(after.on_missing) < _ON_MISSING.index(before.on_missing):
        return f"its on_missing is {before.on_missing}"
    return _confidence(before.confidence, after.confidence)


def _conditions(before: Target, after: Target) -> bool:
    """Whether every request that is good after was good before."""
    by_metric = {condition.metric: condition for condition in after.conditions}
    return all(
        condition.metric in by_metric and _stricter(condition, by_metric[condition.metric])
        for condition in before.conditions
    )


def _stricter(before: Condition, after: Condition) -> bool:
    return after.bound < before.bound or (after.bound == before.bound and after.op in {before.op, "<"})


def _confidence(before: Confidence | None, after: Confidence | None) -> Looser:
    """A proof may be added where there is none, and be surer; but a test of a change fails only if sure."""
    if before is None:
        tested = after is not None and after.method == "mann_whitney"
        return "asks for the figure itself, and a test would let a change pass" if tested else None
    if after is None or (before.method, before.side) != (after.method, after.side):
        return f"its confidence is by {before.method}"
    if before.method == "mann_whitney":
        return _other(before.level, after.level)
    if before.form == "estimate" and after.form == "test":
        return "its confidence is by the estimate, which is stricter than the test"
    return f"its confidence is {before.level:g}" if after.level < before.level else None


_RULES: Final[Mapping[tuple[str, str], Callable[[Any, Any], Looser]]] = {
    ("targets", ANY): _target,
    ("audit", ANY): _audit,
    ("accuracy_runs", ANY): _runs,
    ("validity", "max_error_rate"): _more,
    ("validity", "min_samples"): _less,
    ("validity", "min_duration_s"): _less,
    ("validity", "min_passes"): _less,
    ("validity", "min_samples_per_concurrency"): _less,
    ("validity", "warmup_per_concurrency"): _less,
    ("validity", "min_sessions"): _less,
    ("validity", "min_sessions_per_concurrency"): _less,
    ("validity", "min_coverage"): _less,
    ("validity", "max_context_overflow_rate"): _more,
    ("validity", "dataset_multiple"): _not_any_more,
    ("validity", "streaming"): _not_any_more,
    ("validity", "warn"): _no_further,
    ("load", "concurrency"): _range,
    ("generation", "locked"): _not_any_more,
    ("steady_state", "required"): _not_any_more,
    ("steady_state", "min_blocks"): _less,
    ("steady_state", "max_drift"): _more,
    ("baseline", "ref"): _ref,
    ("baseline", "min_runs"): _less,
    ("baseline", "min_effect"): _more,
    ("sweep.points", "min"): _less,
    ("sweep.points", "max"): _more,
    ("sweep.points.require", ANY): _less,
    ("power", "required"): _not_any_more,
}
"""How a rule is compared, by section and name; what is not here must stay as it is."""
