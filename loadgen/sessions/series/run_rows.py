"""The runs of a series as rows in plain types, and the result of each in a word."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from loadgen.sessions.series_outcome import PointOutcome

_ACCEPTED: Final = "accepted"
"""Invalid because of the client, and accepted (`--on-invalid warn`)."""

_RESULTS: Final = {"PASS": "pass", "FAIL": "missed", "INVALID": "invalid", "INCONCLUSIVE": "unclear"}


def rows(outcomes: Sequence[PointOutcome], folder: Path) -> list[dict[str, Any]]:
    """One row per point, in plain types."""
    from loadgen.sessions.series.headline_scores import scores_of
    from reporter.run_row import figures

    return [
        {
            "name": outcome.point.name,
            "folder": str(outcome.folder.relative_to(folder)),
            "axes": dict(outcome.point.axes),
            "exit_code": outcome.exit_code,
            "valid": outcome.report.validity.valid,
            "accepted": outcome.report.validity.accepted,
            "reasons": list(outcome.report.validity.reasons),
            "verdict": None if outcome.report.verdict is None else outcome.report.verdict.status,
            "warnings": warnings_of(outcome),
            "scores": [asdict(score) for score in scores_of(outcome.report)],
            **asdict(figures(outcome.report)),
        }
        for outcome in outcomes
    ]


def warnings_of(outcome: PointOutcome) -> list[str]:
    """The codes of the warnings of a point, with those of their effects."""
    return [
        code
        for finding in outcome.report.findings
        if finding.severity == "warning"
        for code in (finding.code, *finding.effects)
    ]


def result(outcome: PointOutcome) -> str:
    """The outcome of a point in a word or two; empty for a valid point without requirements."""
    report = outcome.report
    if not report.validity.stands:
        return report.validity.label.lower()
    if report.verdict is None:
        return _ACCEPTED if report.validity.accepted else ""
    return _RESULTS.get(report.verdict.status, "")
