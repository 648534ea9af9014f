"""The result of a run as marks, and the reason for it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reporter.findings.acceptance import IN_WORDS
from reporter.render import totals
from reporter.render.named_verdict import met
from reporter.render.table import Mark, tone

if TYPE_CHECKING:
    from reporter.report import Report


def result(report: Report) -> tuple[Mark, ...]:
    """The result first: the fault of the run, or the verdict; validity comes last."""
    validity, verdict = report.validity, report.verdict
    errors = any(finding.severity == "error" for finding in report.findings)
    # A run in progress is not valid, but need not have an error either.
    judged = report.run.ended != "running" or errors
    marks = [_validity(report)] if judged else []
    if ended := totals.ended(report):
        marks.append(Mark(ended, "doubt"))
    if verdict is not None and (validity.stands or verdict.status != "INVALID"):
        marks.append(Mark(verdict.status, tone(verdict.status)))
    return tuple(sorted(marks, key=lambda mark: mark.tone == "dim"))


def reason(report: Report) -> str:
    """The reason for the result: why the run is invalid, the first missed rule, or the rules met."""
    validity, verdict = report.validity, report.verdict
    if not validity.valid:
        return validity.summary or (validity.reasons[0] if validity.reasons else "")
    rows = () if verdict is None else verdict.rows
    missed = [row for row in rows if row.severity == "fail" and row.status not in {"PASS", "SKIP"}]
    if missed:
        return "; ".join([missed[0].reason, *([f"and {len(missed) - 1} more"] if len(missed) > 1 else [])])
    if validity.summary:
        return validity.summary
    return "No target was set (--require)." if verdict is None else met(verdict.rows)


def _validity(report: Report) -> Mark:
    if report.validity.accepted:
        return Mark(f"{report.validity.label}, {IN_WORDS}", "doubt")
    return Mark("valid", "dim") if report.validity.valid else Mark(report.validity.label, "bad")
