"""From a ruleset and a report to a verdict. Pure, and strict: what the report does not hold is not met."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Final, Literal

from rulesets import figure
from rulesets.expression import unparse
from rulesets.target import COMPARE, spell

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from rulesets.figure import Figure
    from rulesets.ruleset import Ruleset, Validity
    from rulesets.target import Op, Severity, Target

Status = Literal["PASS", "FAIL", "INVALID"]

EXIT_CODES: Final[Mapping[Status, int]] = {"INVALID": 4, "FAIL": 1, "PASS": 0}
"""The exit code of each status, the gravest first: an invalid run has neither passed nor failed."""


@dataclass(frozen=True, slots=True)
class Row:
    """What became of one rule.

    Attributes:
        id: The target's id, or `validity.KEY` for a rule of the ruleset's validity.
        target: The rule as text.
        observed: The figure, in `unit`; None when the report holds none.
        bound: The bound, in `unit`.
        unit: The unit that the rule is written in; empty for counts and fractions.
        n: How many samples stand behind the figure: gaps for itl, requests for all others.
        status: `PASS`; `FAIL` for a target that is missed or has no samples; `INVALID` for a rule of the
            validity that is not met.
        severity: Whether it counts for the whole (`fail`) or is only shown (`warn`, `info`).
        margin: The distance from the bound as a share of it, negative on the wrong side; None where the
            bound is 0 or there is no figure.
        reason: Why it did not pass; empty when it did.
    """

    id: str
    target: str
    observed: float | None
    bound: float
    unit: str
    n: int
    status: Status
    severity: Severity
    margin: float | None
    reason: str


@dataclass(frozen=True, slots=True)
class Verdict:
    """What became of a run under a ruleset.

    Attributes:
        status: `INVALID` when the run cannot stand for the server, else `FAIL` when a target of severity
            `fail` is missed, else `PASS`.
        ruleset: The name of the ruleset.
        version: Its version.
        source: Where its rules come from.
        rows: One a rule: validity first, then the targets in their order.
        reasons: Why the report itself calls the run invalid; empty when it does not.
    """

    status: Status
    ruleset: str
    version: str
    source: tuple[str, ...]
    rows: tuple[Row, ...]
    reasons: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """The verdict as JSON-able values, for the report's `verdict` key."""
        return {
            "status": self.status,
            "ruleset": self.ruleset,
            "version": self.version,
            "source": list(self.source),
            "rows": [asdict(row) for row in self.rows],
            "reasons": list(self.reasons),
        }


def judge(ruleset: Ruleset, report: Mapping[str, Any]) -> Verdict:
    """Hold a report against a ruleset.

    Args:
        ruleset: The rules.
        report: The report as plain values, keyed as report.json is.
    """
    validity = _validity_rows(ruleset.validity, report)
    targets = (_target_row(target, figure.observe(target, report)) for target in ruleset.targets)
    rows = (*validity, *targets)
    reasons = _invalid_reasons(report)
    return Verdict(
        status="INVALID" if reasons else _gravest(rows),
        ruleset=ruleset.name,
        version=ruleset.version,
        source=ruleset.source,
        rows=rows,
        reasons=reasons,
    )


def exit_code(verdict: Verdict) -> int:
    """Give the exit code of a verdict: 0 passed, 1 failed, 4 the run is invalid."""
    return EXIT_CODES[verdict.status]


def _gravest(rows: Iterable[Row]) -> Status:
    present = {row.status for row in rows if row.severity == "fail"}
    return next((status for status in EXIT_CODES if status in present), "PASS")


def _invalid_reasons(report: Mapping[str, Any]) -> tuple[str, ...]:
    validity = report.get("validity") or {}
    if validity.get("valid") is True:
        return ()
    return tuple(validity.get("reasons") or ["the report does not say that the run is valid"])


def _target_row(target: Target, seen: Figure) -> Row:
    passed = seen.value is not None and COMPARE[target.op](seen.value, target.bound)
    observed = None if seen.value is None else target.in_unit(seen.value)
    name = f"{target.metric}:{spell(target.stat)}"
    return Row(
        id=target.id,
        target=unparse(target),
        observed=observed,
        bound=target.value,
        unit=target.unit,
        n=seen.n,
        status="PASS" if passed else "FAIL",
        severity=target.severity,
        margin=_margin(observed, target.value, passed=passed),
        reason="" if passed else _reason(name, observed, target.op, target.value, target.unit),
    )


def _validity_rows(validity: Validity, report: Mapping[str, Any]) -> Iterator[Row]:
    if validity.max_error_rate is not None:
        yield _validity_row("max_error_rate", figure.error_rate(report), "<=", validity.max_error_rate)
    if validity.min_samples is not None:
        yield _validity_row("min_samples", figure.completed(report), ">=", validity.min_samples)
    if validity.min_duration_s is not None:
        yield _validity_row("min_duration_s", figure.window_s(report), ">=", validity.min_duration_s)


_VALIDITY_NAMES: Final = {
    "max_error_rate": ("the error rate", ""),
    "min_samples": ("the number of completed requests", ""),
    "min_duration_s": ("the window", "s"),
}
"""What each rule of the validity bounds, and its unit."""


def _validity_row(key: str, seen: Figure, op: Op, bound: float) -> Row:
    name, unit = _VALIDITY_NAMES[key]
    met = seen.value is not None and COMPARE[op](seen.value, bound)
    return Row(
        id=f"validity.{key}",
        target=f"{key}: {bound:g}",
        observed=seen.value,
        bound=bound,
        unit=unit,
        n=seen.n,
        status="PASS" if met else "INVALID",
        severity="fail",
        margin=_margin(seen.value, bound, passed=met),
        reason="" if met else _reason(name, seen.value, op, bound, unit),
    )


def _margin(observed: float | None, bound: float, *, passed: bool) -> float | None:
    if observed is None or bound == 0:
        return None
    share = abs(observed - bound) / bound
    if not math.isfinite(share):
        return None
    return share if passed else 0.0 - share  # -share would be -0.0 on the bound itself


def _reason(name: str, observed: float | None, op: Op, bound: float, unit: str) -> str:
    if observed is None:
        return f"the run has no samples of {name}, and what was not measured is not met"
    after = unit if unit in {"", "%"} else f" {unit}"
    return f"{name} is {observed:.6g}{after}, and {op} {bound:.6g}{after} is asked for"
