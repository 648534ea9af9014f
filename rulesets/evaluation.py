"""The verdict on a run by a ruleset. Pure, and strict: a demand without evidence is not met.

Every rule has exactly one row, whatever its outcome.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

from rulesets.errors import RulesetError, suggestion
from rulesets.evaluators.facts import was_cut_short
from rulesets.evaluators.rule_row import Case
from rulesets.verdict import Verdict, whole

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from rulesets.evaluators.rule_row import Rule, VerdictRow
    from rulesets.evidence import Evidence
    from rulesets.ruleset import Ruleset


def evaluate(
    ruleset: Ruleset,
    run: Evidence,
    *,
    others: Sequence[Evidence] = (),
    baseline: Sequence[Evidence] = (),
    skip: Collection[str] = (),
    audits: Mapping[str, Mapping[str, Any]] | None = None,
) -> Verdict:
    """Evaluate a ruleset on a run.

    Args:
        ruleset: The rules.
        run: The run.
        others: Further runs of the same side, for changes.
        baseline: The runs that they are compared with.
        skip: Rules that are left out, by id or by group.
        audits: The results of audits with their own runs, by name: of `output_caching` `passed`,
            `ref_qps`, `audit_qps`, `threshold` and `reason`, of `perf_mode_accuracy` `value` and `n`.

    Raises:
        RulesetError: `skip` names a rule that is not in the ruleset.
    """
    case = Case(ruleset, run, tuple(others), tuple(baseline), audits or {})
    require_known(skip, ruleset)
    rows = tuple(_row(rule, case, skip) for rule in rules_of(ruleset))
    invalid = _invalid_reasons(run.report)
    accepted: tuple[str, ...] = ()
    if _is_accepted(run.report):
        # Others rely on locked rules: a user cannot accept a run that they do not.
        invalid, accepted = ((*invalid, _LOCKED), ()) if ruleset.locked else ((), invalid)
    reasons = invalid or _cut_short(run.report, rows)
    return Verdict(
        status="INVALID" if reasons else whole(rows),
        ruleset=ruleset.name,
        version=ruleset.version,
        source=ruleset.source,
        rows=rows,
        reasons=reasons,
        model=ruleset.model,
        scenario=ruleset.scenario,
        locked=ruleset.locked,
        overrides=(*ruleset.overrides, *(f"left out: {name}" for name in skip)),
        definitions=ruleset.definitions.to_dict(),
        notes=ruleset.notes,
        accepted=accepted,
    )


def _row(rule: Rule, case: Case, skip: Collection[str]) -> VerdictRow:
    name = next((name for name in skip if name in {rule.id, rule.group}), None)
    return rule.row(case) if name is None else rule.skipped(name)


def require_known(skip: Collection[str], ruleset: Ruleset) -> None:
    """Check that the rules to skip exist, in the rules of a run or over several runs.

    Raises:
        RulesetError: Something is not.
    """
    if not skip:
        return
    from rulesets.sweeps import names

    rules, over_runs = rules_of(ruleset), () if ruleset.sweep is None else names(ruleset.sweep)
    names_of_rules = list(
        dict.fromkeys([*(rule.id for rule in rules), *(rule.group for rule in rules), *over_runs])
    )
    for name in skip:
        if name not in names_of_rules:
            raise RulesetError(f"unknown rule {name!r} to leave out; {suggestion(name, names_of_rules)}")


def _invalid_reasons(report: Mapping[str, Any]) -> tuple[str, ...]:
    validity = report.get("validity") or {}
    if validity.get("valid") is True:
        return ()
    return tuple(validity.get("reasons") or ["the report does not say that the run is valid"])


_LOCKED: Final = "These rules are locked: --on-invalid warn does not apply to them."


def _is_accepted(report: Mapping[str, Any]) -> bool:
    return (report.get("validity") or {}).get("accepted") is True


def _cut_short(report: Mapping[str, Any], rows: Sequence[VerdictRow]) -> tuple[str, ...]:
    """The reason why a run ended by --abort-on-fail cannot pass."""
    if not was_cut_short(report) or whole(rows) in {"FAIL", "INVALID"}:
        return ()
    return ("--abort-on-fail ended the run early by other rules; run again without --abort-on-fail",)


_PARTS: Final[Mapping[str, Callable[[Ruleset], object]]] = {
    "validity": lambda ruleset: ruleset.validity != type(ruleset.validity)(),
    "prescribed_load": lambda ruleset: ruleset.load,
    "prescribed_requests": lambda ruleset: (
        ruleset.dataset != type(ruleset.dataset)() or ruleset.generation.settings or ruleset.seeds
    ),
    "prescribed_options": lambda ruleset: ruleset.options != type(ruleset.options)(),
    "power": lambda ruleset: ruleset.power,
    "steady": lambda ruleset: ruleset.steady_state != type(ruleset.steady_state)(),
    "targets": lambda ruleset: ruleset.targets,
    "change": lambda ruleset: ruleset.baseline or any(target.delta for target in ruleset.targets),
    "audits": lambda ruleset: ruleset.audits,
    "over_runs": lambda ruleset: ruleset.sweep,
}
"""The modules with rules, and whether a ruleset has some, in the order of a verdict: validity comes first.

A module is loaded for a ruleset that needs it."""


def kinds() -> tuple[str, ...]:
    """Every kind of rule that a run can meet or miss."""
    return tuple(kind for name in _PARTS for kind in _part(name).KINDS)


def rules_of(ruleset: Ruleset) -> tuple[Rule, ...]:
    """Every rule of a ruleset, each once."""
    return tuple(
        rule for name, has_some in _PARTS.items() if has_some(ruleset) for rule in _part(name).rules(ruleset)
    )


def _part(name: str) -> Any:
    return import_module(f"rulesets.evaluators.{name}")
