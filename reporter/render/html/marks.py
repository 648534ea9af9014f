"""Verdicts and severities as marks, and the result of a run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from reporter.findings.acceptance import IN_WORDS
from reporter.render import totals
from reporter.render.html.page import Mark

if TYPE_CHECKING:
    from collections.abc import Mapping

    from reporter.render.html.page import Tone
    from reporter.report import Report

TONES: Final[Mapping[str, Tone]] = {
    "PASS": "good",
    "FAIL": "bad",
    "INVALID": "bad",
    "INCONCLUSIVE": "doubt",
    "WARN": "doubt",
    "INFO": "dim",
    "SKIP": "dim",
    "error": "bad",
    "warning": "doubt",
    "info": "dim",
    "correct": "good",
    "incorrect": "bad",
    "partial": "doubt",
}
"""By verdict, severity and outcome; any other is in doubt."""


def result(report: Report) -> tuple[Mark, ...]:
    """The run's validity, an abnormal ending if any, and the verdict."""
    marks = []
    errors = any(finding.severity == "error" for finding in report.findings)
    if report.run.ended != "running" or errors:
        marks.append(_validity(report))
    if ended := totals.ended(report):
        marks.append(Mark(ended, "doubt"))
    if report.verdict is not None:
        marks.append(Mark(report.verdict.status, TONES[report.verdict.status]))
    if report.validity.summary:
        marks.append(Mark(report.validity.summary, "bad" if not report.validity.valid else "doubt"))
    return tuple(marks)


def _validity(report: Report) -> Mark:
    if report.validity.accepted:
        return Mark(f"{report.validity.label}, {IN_WORDS}", "doubt")
    return Mark(report.validity.label, "good" if report.validity.valid else "bad")
