"""From a ruleset and a run to a verdict. Pure, and strict: what the run does not tell is not met.

Every rule has exactly one row, whatever becomes of it.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, Final

from rulesets.errors import RulesetError
from rulesets.judging.facts import was_cut_short
from rulesets.judging.row import Row, Status
from rulesets.judging.rule import Case
from rulesets.judging.rules import rules_of
from rulesets.nearest import suggestion
from rulesets.sweeps import names

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from rulesets.evidence import Evidence
    from rulesets.judging.rule import Rule
    from rulesets.ruleset import Ruleset

__all__ = ["EXIT_CODES", "Row", "Status", "Verdict", "exit_code", "judge", "require_known", "whole"]

EXIT_CODES: Final[Mapping[Status, int]] = {"INVALID": 4, "FAIL": 1, "INCONCLUSIVE": 5, "PASS": 0}
"""The exit code of each status of a run, the gravest first: an invalid run has neither passed nor failed."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What became of a run under a ruleset.

    Attributes:
        status: The gravest status among the rows of severity `fail`: `INVALID` when the run cannot stand for
            the server, else `FAIL`, else `INCONCLUSIVE`, else `PASS`. Where all of them were skipped nothing
            was shown, which is `INCONCLUSIVE`.
        ruleset: The name of the ruleset.
        version: Its version.
        source: Where its rules come from.
        rows: One a rule: what makes a run valid first, then the targets in their order, then the rest.
        reasons: Why the report itself calls the run invalid; empty when it does not.
        model: The entry of the ruleset that it was resolved for; empty for a flat file.
        scenario: Of that model.
        locked: Whether a file that extends the rules may only tighten them.
        overrides: What was changed in the rules, and what was left out on request: where there is anything,
            they are not the rules that their name stands for.
        definitions: What the figures mean.
        notes: What the rules say of themselves.
    """

    status: Status
    ruleset: str
    version: str
    source: tuple[str, ...]
    rows: tuple[Row, ...]
    reasons: tuple[str, ...]
    model: str = ""
    scenario: str = ""
    locked: bool = False
    overrides: tuple[str, ...] = ()
    definitions: Mapping[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """The verdict as JSON-able values, for the report's `verdict` key."""
        return {
            "status": self.status,
            "ruleset": self.ruleset,
            "version": self.version,
            "model": self.model,
            "scenario": self.scenario,
            "locked": self.locked,
            "overrides": list(self.overrides),
            "source": list(self.source),
            "definitions": {
                name: list(value) if isinstance(value, tuple) else value
                for name, value in self.definitions.items()
            },
            "notes": list(self.notes),
            "rows": [asdict(row) for row in self.rows],
            "reasons": list(self.reasons),
        }


def judge(
    ruleset: Ruleset,
    run: Evidence,
    *,
    others: Sequence[Evidence] = (),
    baseline: Sequence[Evidence] = (),
    skip: Collection[str] = (),
    audits: Mapping[str, Mapping[str, Any]] | None = None,
) -> Verdict:
    """Hold a run against a ruleset.

    Args:
        ruleset: The rules.
        run: The run.
        others: Further runs of the same side, for changes.
        baseline: The runs that they are compared with.
        skip: Rules that are left out, by id or by group.
        audits: What audits that take runs of their own found, by their name: of `output_caching` `passed`,
            `ref_qps`, `audit_qps`, `threshold` and `reason`, of `perf_mode_accuracy` `value` and `n`.

    Raises:
        RulesetError: Something is to be left out that is not in the rules.
    """
    case = Case(ruleset, run, tuple(others), tuple(baseline), audits or {})
    require_known(skip, ruleset)
    rows = tuple(_row(rule, case, skip) for rule in rules_of(ruleset))
    reasons = _invalid_reasons(run.report) or _cut_short(run.report, rows)
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
    )


def exit_code(verdict: Verdict) -> int:
    """Give the exit code of a verdict: 0 passed, 1 failed, 4 the run is invalid, 5 nobody can tell."""
    return EXIT_CODES[verdict.status]


def whole(rows: Iterable[Row]) -> Status:
    """What several rows come to: the gravest of those that count."""
    all_rows = tuple(rows)
    counting = [row.status for row in all_rows if row.severity == "fail"] or [row.status for row in all_rows]
    if all(status == "SKIP" for status in counting):
        return "INCONCLUSIVE"
    present = {row.status for row in all_rows if row.severity == "fail"}
    return next((status for status in EXIT_CODES if status in present), "PASS")


def _row(rule: Rule, case: Case, skip: Collection[str]) -> Row:
    name = next((name for name in skip if name in {rule.id, rule.group}), None)
    return rule.row(case) if name is None else rule.skipped(name)


def require_known(skip: Collection[str], ruleset: Ruleset) -> None:
    """Make sure that what is to be left out is there, in the rules of a run or those over several.

    Raises:
        RulesetError: Something is not.
    """
    if not skip:
        return
    rules, over_runs = rules_of(ruleset), () if ruleset.sweep is None else names(ruleset.sweep)
    known = list(dict.fromkeys([*(rule.id for rule in rules), *(rule.group for rule in rules), *over_runs]))
    for name in skip:
        if name not in known:
            raise RulesetError(f"there is no rule {name!r} to leave out; {suggestion(name, known)}")


def _invalid_reasons(report: Mapping[str, Any]) -> tuple[str, ...]:
    validity = report.get("validity") or {}
    if validity.get("valid") is True:
        return ()
    return tuple(validity.get("reasons") or ["the report does not say that the run is valid"])


def _cut_short(report: Mapping[str, Any], rows: Sequence[Row]) -> tuple[str, ...]:
    """A run that ended early because it had lost its gate stands for nothing but that it has lost one."""
    if not was_cut_short(report) or whole(rows) in {"FAIL", "INVALID"}:
        return ()
    return (
        "the run was ended early by rules that it had lost (--abort-on-fail); it meets these: run it whole",
    )
