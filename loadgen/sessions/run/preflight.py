"""Warnings before a run: its plan cannot be valid under its rules.

The rules are evaluated on the run that the plan would give if all went well; what even that run breaks is
foreseen.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final

from loadgen.driver.load import Offline, expected_arrivals
from workloads.units import duration_text

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping

    from loadgen.driver.plan import Plan
    from loadgen.sessions.observer import Observer
    from loadgen.sessions.run.preparation import Prepared
    from rulesets.evaluators.rule_row import VerdictRow
    from rulesets.ruleset import Ruleset


_COUNTED: Final = frozenset(
    {
        "validity.max_error_rate",
        "validity.min_samples",
        "validity.dataset_multiple",
        "validity.min_passes",
        "validity.min_samples_per_concurrency",
    }
)
"""Rules that depend on the number of requests."""
_EXACT: Final = "validity.dataset_multiple"
_TIMED: Final = "validity.min_duration_s"
_FORESEEABLE: Final = frozenset({"validity", "load"})
_BASELINE: Final = "--baseline REF"
_OPTIONS: Final[Mapping[str, str]] = {
    "baseline": _BASELINE,
    "accuracy": "--accuracy SCORED",
    "power": "--power SOURCE:WATTS",
    "audit.output_caching": "--audit FOLDER",
    "audit.perf_mode_accuracy": "--audit FOLDER",
}
"""The options of the gate that rules need, by their group or their kind."""
_LUCK: Final = 4.0
"""Standard deviations of a Poisson process that a run may be longer, or have more requests, than expected."""


def warn_of(prepared: Prepared, observer: Observer, name: str = "") -> None:
    """Warn, a line each, why the run will be invalid, and of rules that it cannot pass by itself."""
    rules, skip = prepared.rules, set(prepared.perf.verdict.skip)
    before = f"warning: {name}: " if name else "warning: "
    if warning := cut_backlog(prepared.plan, rules):
        observer.note(f"{before}{warning}")
    if rules is None:
        return
    from reporter.render.rule_in_words import whys

    broken = broken_by_plan(prepared.plan, prepared.settings(), rules)
    rows = [row for row in broken if not skip & {row.id, row.group}]
    lines = [f"the run cannot be valid: {row.id}: {'; '.join(why)}" for row, why in whys(rows)]
    # Scores of a run that asks benchmarks are in its log.
    settled_by_run = skip if prepared.accuracy is None else skip | {"accuracy"}
    nameless: Iterable[str] = ()
    if prepared.accuracy is not None:
        from loadgen.sessions.run.scoring_at_end import without_score

        nameless = without_score(rules, prepared.accuracy, skip)
    for line in (*lines, *nameless, *missing_inputs(rules, settled_by_run)):
        observer.note(f"{before}{line}")


def missing_inputs(rules: Ruleset, skip: Collection[str]) -> Iterator[str]:
    """The rules that a run cannot pass by itself, because they need inputs that only a gate takes."""
    from rulesets.evaluation import rules_of

    needing = [
        (option, rule)
        for rule in rules_of(rules)
        if (option := _OPTIONS.get(rule.group) or _OPTIONS.get(rule.kind)) and rule.severity == "fail"
    ]
    if not needing:
        return
    from rulesets.evaluators.rule_row import Case
    from rulesets.report_evidence import ReportEvidence

    case, ids = Case(rules, ReportEvidence({})), dict[str, list[str]]()
    for option, rule in needing:
        if not {rule.id, rule.group} & set(skip) and rule.row(case).status == "FAIL":
            ids.setdefault(option, []).append(rule.id)
    for option, rule_ids in ids.items():
        has_baseline = option == _BASELINE and rules.baseline is not None and rules.baseline.ref
        how = "loadgen gate RUN" if has_baseline else f"loadgen gate RUN {option}"
        yield f"the run cannot pass by itself: {', '.join(rule_ids)}; evaluate it when it has ended: {how}"


def broken_by_plan(plan: Plan, settings: Mapping[str, Any], rules: Ruleset) -> Iterator[VerdictRow]:
    """The rules that a run of a plan will break, whatever the endpoint does."""
    from reporter.log.run_head import generation
    from rulesets.demands import OF_SESSIONS
    from rulesets.evaluation import rules_of

    could_break = [rule for rule in rules_of(rules) if rule.group in _FORESEEABLE]
    if not could_break:
        return
    from rulesets.evaluators.rule_row import Case
    from rulesets.report_evidence import ReportEvidence

    count, seconds = _most_requests(plan), _longest_s(plan)
    report = {
        "run": {**settings, "generation": generation(settings), "ended": "completed"},
        "counts": {"issued": count, "completed": count, "failed": 0, "cancelled": 0, "warmup": plan.warmup},
        "window": {"duration_s": seconds, "issuing_s": seconds},
    }
    unknown = set(_COUNTED if count is None else () if plan.requests == count else {_EXACT})
    unknown |= {_TIMED} if seconds is None else set()
    unknown |= {f"validity.{key}" for key in OF_SESSIONS}
    case = Case(rules, ReportEvidence(report))
    for rule in could_break:
        if rule.kind not in unknown:
            row = rule.row(case)
            if row.status == "INVALID":
                yield row


def _most_requests(plan: Plan) -> int | None:
    """How many requests will be measured at most; None where that is unknown."""
    if plan.sessions is not None:
        return None
    expected = None if plan.duration_s is None else expected_arrivals(plan.load, plan.duration_s)
    if expected is None:
        return plan.requests
    greatest = math.ceil(expected + _LUCK * math.sqrt(expected))
    return greatest if plan.requests is None else min(plan.requests, greatest)


def _longest_s(plan: Plan) -> float | None:
    """The longest time of issuing; None where that depends on the endpoint."""
    rate, requests = plan.load.rate, plan.requests
    if rate is None or requests is None:
        return plan.duration_s
    from loadgen.driver.arrivals.rate_profile import Flat

    if not isinstance(rate, Flat):
        return plan.duration_s
    expected_s = (requests + _LUCK * math.sqrt(requests)) / rate.level
    return expected_s if plan.duration_s is None else min(plan.duration_s, expected_s)


def cut_backlog(plan: Plan, rules: Ruleset | None) -> str | None:
    """Warn of a limit on each request that ends inside an offline run; None where no such limit is known."""
    if not isinstance(plan.load, Offline):
        return None
    # Other loads start without these modules of the reporter.
    from reporter.findings.client_timeouts import OPTIONS, round_up, waits_together

    lasts_s = plan.duration_s or 0.0
    if rules is not None:
        lasts_s = max(lasts_s, rules.validity.min_duration_s or 0.0)
    limits = plan.timeouts.by_option()
    inside = {
        option: limit_s
        for option in OPTIONS.values()
        if (limit_s := limits[option]) is not None and limit_s <= lasts_s
    }
    if not inside or not waits_together(plan.load.kind, plan.load.limit, plan.count):
        return None
    limit = " and ".join(f"{option} {duration_text(limit_s)}" for option, limit_s in inside.items())
    longer = " ".join(f"{option} {duration_text(round_up(2 * lasts_s))}" for option in inside)
    return (
        f"{limit} is too short: with --offline every request waits from the start, and the run lasts "
        f"{duration_text(lasts_s)} or longer. Requests that the limit ends make the run invalid; give "
        f"a longer one: {longer}"
    )
