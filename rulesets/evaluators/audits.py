"""Audits: checks that a run is genuine."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

from rulesets.demands import TOLERANCES
from rulesets.evaluators import facts
from rulesets.evaluators.prescribed_requests import evaluate_seed, evaluate_setting, prescribed_settings
from rulesets.evaluators.rule_row import Rule, RuleOutcome, bound_text, figure_text
from rulesets.quantity import SCORES
from rulesets.scores import score
from rulesets.value_text import in_words

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from rulesets.demands import AuditDemand
    from rulesets.evaluators.rule_row import Case
    from rulesets.ruleset import Ruleset


def rules(ruleset: Ruleset) -> Iterator[Rule]:
    """One rule per audit."""
    for audit in ruleset.audits:
        parameters = in_words({name: value for name, value in audit.parameters.items() if name != "test"})
        yield Rule(
            id=f"audit.{audit.name}",
            kind=f"audit.{audit.name}",
            group="audit",
            text=f"{audit.name}: {parameters}" if parameters else audit.name,
            evaluate=lambda case, audit=audit: _AUDITS[audit.name](audit, case),  # type: ignore[misc]
        )


def _output_caching(audit: AuditDemand, case: Case) -> RuleOutcome:
    """The rate with one prompt repeated must be below that with distinct ones times 1 + the threshold."""
    audit_result = case.audits.get("output_caching")
    if not audit_result:
        return _not_run("the audit of output caching was not run", "loadgen audit output-caching")
    bound = 1 + _tolerance(audit, "threshold")
    reference = facts.number(audit_result.get("ref_qps"))
    repeated = facts.number(audit_result.get("audit_qps"))
    ratio = repeated / reference if reference and repeated is not None else None
    method = "rate with one prompt repeated / rate with distinct prompts"
    if audit_result.get("passed") is True and (ratio is None or ratio < bound):
        return RuleOutcome("PASS", ratio, method=method, bound=bound)
    reason = str(audit_result.get("reason") or "the audit of output caching did not pass")
    remedy, is_slower = "see the audit's own report", ratio is None or ratio < bound
    if ratio is not None and not is_slower:
        faster = f"one prompt repeated is answered {figure_text(ratio, bound)} times as fast"
        reason = f"{faster}; required: < {bound_text(bound)}"
        remedy = "turn the caching of answers off"
    return RuleOutcome("FAIL", ratio, method=method, reason=reason, remedy=remedy, bound=bound, met=is_slower)


def _tolerance(audit: AuditDemand, name: str) -> float:
    tolerance = facts.number(audit.parameters.get(name))
    return TOLERANCES[audit.name][name] if tolerance is None else tolerance


def _osl_range(audit: AuditDemand, case: Case) -> RuleOutcome:
    """The mean length of outputs is between two bounds, of which the nearer is shown."""
    least, greatest = (facts.number(audit.parameters.get(end)) for end in ("min", "max"))
    least, greatest = -math.inf if least is None else least, math.inf if greatest is None else greatest
    sample = case.run.sample("output_tokens", ())
    mean = sample.mean() if sample.count else None
    if mean is None:
        return _not_run("no output has a length", "have tokens counted: --tokenizer NAME")
    bound = min((end for end in (least, greatest) if math.isfinite(end)), key=lambda end: abs(end - mean))
    if least <= mean <= greatest:
        return RuleOutcome("PASS", mean, sample.count, "mean of output tokens", bound=bound)
    return RuleOutcome(
        "FAIL",
        mean,
        sample.count,
        "mean of output tokens",
        reason=f"outputs have {figure_text(mean, bound)} tokens in the mean; "
        f"required: {bound_text(least)} to {bound_text(greatest)}",
        remedy="see why answers end: finish_reason, and --max-tokens",
        bound=bound,
    )


def _token_count(audit: AuditDemand, case: Case) -> RuleOutcome:
    """The server's count of output tokens compared with the tokenizer's, over all answers that have both."""
    tokens = facts.section(case.report, "tokens")
    reported, counted = facts.number(tokens.get("usage_output")), facts.number(tokens.get("recounted_output"))
    if reported is None or not counted:
        return (
            _not_run(
                "the server sent no counts that could be checked", "have it send `usage` with each answer"
            )
            if tokens.get("source") == "client_tokenizer"
            else _not_run(
                "the server's tokens were not counted again",
                "evaluate with the model's tokenizer: --tokenizer NAME",
            )
        )
    bound = _tolerance(audit, "tolerance")
    apart = abs(reported - counted) / counted
    method = "the server's output tokens / the tokenizer's, less 1"
    if apart <= bound:
        return RuleOutcome("PASS", apart, method=method, bound=bound)
    return RuleOutcome(
        "FAIL",
        apart,
        method=method,
        reason=f"the server counts {reported:,.0f} output tokens, the tokenizer {counted:,.0f}",
        remedy="see that it is the model's tokenizer; count by it: token source client_tokenizer",
        bound=bound,
    )


def _perf_mode_accuracy(audit: AuditDemand, case: Case) -> RuleOutcome:
    """The score of answers given under load, from this run; the score of another run does not count."""
    metric, least = audit.parameters.get("metric"), facts.number(audit.parameters.get("min"))
    if least is None:
        metric, least = next(
            (
                (target.metric.removeprefix(SCORES), target.bound)
                for target in case.ruleset.targets
                if target.metric.startswith(SCORES) and target.op in {">", ">="}
            ),
            (None, None),
        )
    if least is None:
        return RuleOutcome("SKIP", reason="the rules name no score that answers under load must have")
    audit_result = case.audits.get("perf_mode_accuracy", {})
    value, n = facts.number(audit_result.get("value")), int(facts.number(audit_result.get("n")) or 0)
    own = score(case.report.get("accuracy") or (), str(metric))
    if not audit_result and own is not None and not own.unscored:
        value, n = own.value, own.n
    if value is None:
        return _not_run(f"answers under load were not scored by {metric}", "score this run's answers")
    if value >= least:
        return RuleOutcome("PASS", value, n, f"{metric} under load", bound=least)
    return RuleOutcome(
        "FAIL",
        value,
        n,
        f"{metric} under load",
        reason=f"{metric} under load is {figure_text(value, least)}; required: >= {bound_text(least)}",
        remedy="serve as in the accuracy run",
        bound=least,
    )


def _salt(audit: AuditDemand, case: Case) -> RuleOutcome:
    del audit
    if facts.run(case.report).get("salt") is True:
        return RuleOutcome("PASS", method="each prompt salted")
    return _not_run("prompts were not salted, and may have been answered from a cache", "run with --salt")


def _seed_match(audit: AuditDemand, case: Case) -> RuleOutcome:
    del audit
    wrong = [
        outcome
        for name, wanted in case.ruleset.seeds.items()
        if (outcome := evaluate_seed(name, wanted, case)).status == "INVALID"
    ]
    if not case.ruleset.seeds:
        return RuleOutcome("SKIP", reason="the rules name no seed")
    return _none_of(wrong, f"{len(case.ruleset.seeds)} seeds")


def _config_locked(audit: AuditDemand, case: Case) -> RuleOutcome:
    del audit
    wanted = prescribed_settings(case.ruleset)
    if not wanted:
        return RuleOutcome("SKIP", reason="the rules name no settings of requests")
    wrong = [
        outcome
        for name, value in wanted.items()
        if (outcome := evaluate_setting(name, value, case)).status == "INVALID"
    ]
    return _none_of(wrong, f"{len(wanted)} settings of requests")


def _none_of(wrong: list[RuleOutcome], method: str) -> RuleOutcome:
    if not wrong:
        return RuleOutcome("PASS", method=method)
    reason = "; ".join(outcome.reason for outcome in wrong)
    remedy = "; ".join(dict.fromkeys(outcome.remedy for outcome in wrong))
    return RuleOutcome("FAIL", method=method, reason=reason, remedy=remedy)


def _not_run(reason: str, remedy: str) -> RuleOutcome:
    return RuleOutcome("FAIL", reason=reason, remedy=remedy)


_AUDITS: Final[Mapping[str, Callable[[AuditDemand, Case], RuleOutcome]]] = {
    "output_caching": _output_caching,
    "osl_range": _osl_range,
    "token_count": _token_count,
    "perf_mode_accuracy": _perf_mode_accuracy,
    "salt": _salt,
    "seed_match": _seed_match,
    "config_locked": _config_locked,
}

KINDS: Final = tuple(f"audit.{name}" for name in _AUDITS)
