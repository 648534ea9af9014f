"""The exit code of a point of a series."""

from __future__ import annotations

from typing import TYPE_CHECKING

from loadgen.sessions.files.series_file import SeriesKind
from rulesets.exit_codes import ExitCode

if TYPE_CHECKING:
    from loadgen.sessions.files.series_file import Series
    from reporter.report import Report


def exit_code_of(report: Report, series: Series, number: int) -> int:
    """The exit code of a point: of `loadgen perf`, but a sweep asks for loads that the endpoint cannot hold.

    Overload alone is not an error there: 0, or 1 (a target is missed) where there are rules.
    """
    from loadgen.sessions.run_session import outcome

    errors = {finding.code for finding in report.findings if finding.severity == "error"}
    if series.kind == SeriesKind.SWEEP and report.validity.overloaded and len(errors) == 1:
        return ExitCode.PASS if report.verdict is None else ExitCode.FAIL
    return outcome(report, series.points[number].options.get("inconclusive", "5"))
