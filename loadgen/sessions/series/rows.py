"""The runs of a series as rows in plain types, and the result of each in a word."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from loadgen.sessions.series.outcome import PointOutcome

_ACCEPTED: Final = "accepted"
"""Invalid by the client's own doing, and kept in spite of that (`--on-invalid warn`)."""

_RESULTS: Final = {"PASS": "pass", "FAIL": "missed", "INVALID": "invalid", "INCONCLUSIVE": "unclear"}


def rows(outcomes: Sequence[PointOutcome], folder: Path) -> list[dict[str, Any]]:
    """One row a point, in plain types.

    Args:
        outcomes: What came of the points.
        folder: That of the series: those of the points are named from there.
    """
    from loadgen.sessions.series.scores import scores_of
    from reporter.sweep import figures

    return [
        {
            "name": one.point.name,
            "folder": str(one.folder.relative_to(folder)),
            "axes": dict(one.point.axes),
            "exit_code": one.exit_code,
            "valid": one.report.validity.valid,
            "accepted": one.report.validity.accepted,
            "reasons": list(one.report.validity.reasons),
            "verdict": None if one.report.verdict is None else one.report.verdict.status,
            "scores": [asdict(score) for score in scores_of(one.report)],
            **asdict(figures(one.report)),
        }
        for one in outcomes
    ]


def result(outcome: PointOutcome) -> str:
    """What came of a point in a word or two; empty where it is valid and nothing was required of it."""
    from reporter.sweep import OVERLOADED

    report = outcome.report
    if not report.validity.stands:
        return OVERLOADED if OVERLOADED in _errors(outcome) else "invalid"
    if report.verdict is None:
        return _ACCEPTED if report.validity.accepted else ""
    return _RESULTS.get(report.verdict.status, "")


def _errors(outcome: PointOutcome) -> set[str]:
    return {one.code for one in outcome.report.findings if one.severity == "error"}
