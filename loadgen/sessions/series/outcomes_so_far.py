"""The outcomes of a series' runs so far, from files."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Final

from loadgen.sessions.environment import package_version
from loadgen.sessions.errors import UsageError
from loadgen.sessions.files.run_folder import REPORT, still_running
from loadgen.sessions.files.series_file import Series, SeriesKind, folder_of
from loadgen.sessions.observer import SILENT, Observer
from loadgen.sessions.run.report_of_log import write_report
from loadgen.sessions.series_outcome import UNFINISHED, PointOutcome
from recorder.errors import BeingWrittenError, LogError
from recorder.store import LOG_NAME
from reporter.log.storage_place import source_files
from reporter.read_report import report_of
from reporter.report import SCHEMA_VERSION, Report
from rulesets.exit_codes import ExitCode

if TYPE_CHECKING:
    from pathlib import Path


def outcome_of(folder: Path, series: Series, number: int, observer: Observer = SILENT) -> PointOutcome | None:
    """The outcome of a point, from report or log; None for an incomplete point.

    Raises:
        BeingWrittenError: It is running now.
    """
    place = folder_of(folder, series, number)
    if not (place / LOG_NAME).exists():
        return None
    try:
        report = stored_report(place) or write_report(place, None, observer=observer, as_started=True)
    except LogError:
        return None
    if report.run.ended == "running":
        raise still_running(place)
    if report.run.ended in UNFINISHED:
        return None
    point = series.points[number]
    return PointOutcome(number, point, place, report, exit_code_of(report, series, number))


def ended_so_far(folder: Path, series: Series) -> list[PointOutcome]:
    """The outcomes of the points that are complete, at least one."""
    outcomes = outcomes_so_far(folder, series)
    if not outcomes:
        raise UsageError(f"{folder} is the folder of a {series.kind}, and none of its runs has ended yet")
    return outcomes


def outcomes_so_far(folder: Path, series: Series) -> list[PointOutcome]:
    """The outcomes of the points that are complete."""
    outcomes = []
    for number in range(len(series.points)):
        with suppress(BeingWrittenError):
            outcome = outcome_of(folder, series, number)
            if outcome is not None:
                outcomes.append(outcome)
    return outcomes


def exit_code_of(report: Report, series: Series, number: int) -> int:
    """The exit code of a point: of `loadgen perf`, but a sweep asks for loads that the endpoint cannot hold.

    Overload alone is not an error there: 0, or 1 (a target is missed) where there are rules.
    """
    from loadgen.sessions.run_session import outcome

    errors = {finding.code for finding in report.findings if finding.severity == "error"}
    if series.kind == SeriesKind.SWEEP and report.validity.overloaded and len(errors) == 1:
        return ExitCode.PASS if report.verdict is None else ExitCode.FAIL
    return outcome(report, series.points[number].options.get("inconclusive", "5"))


_NOT_OVER: Final = frozenset({"running", "interrupted", "cut_off"})


def stored_report(run: Path) -> Report | None:
    """Read the report of an ended run, a hundred times faster than computing.

    Returns:
        None where there is none, the log is newer, another version of this program made it, or `loadgen
        report` or `loadgen gate` with the choices of a reader.
    """
    path = run / REPORT
    with suppress(OSError, ValueError):
        if path.stat().st_mtime_ns < max(part.stat().st_mtime_ns for part in source_files(run)):
            return None
        made = report_of(path.read_bytes())
        key = (made.run.as_started, made.schema_version, made.run.versions.get("llm-loadgen"))
        if key == (True, SCHEMA_VERSION, package_version("llm-loadgen")) and made.run.ended not in _NOT_OVER:
            return made
    return None
