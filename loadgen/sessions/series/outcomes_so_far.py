"""The outcomes of a series' runs so far, from files."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from loadgen.sessions.errors import UsageError
from loadgen.sessions.files.series_file import Series, folder_of
from loadgen.sessions.observer import SILENT
from loadgen.sessions.series.exit_code import exit_code_of
from loadgen.sessions.series_outcome import UNFINISHED, PointOutcome
from recorder.errors import BeingWrittenError

if TYPE_CHECKING:
    from pathlib import Path

    from loadgen.sessions.observer import Observer


def outcome_of(folder: Path, series: Series, number: int, observer: Observer = SILENT) -> PointOutcome | None:
    """The outcome of a point, from report or log; None for an incomplete point.

    Raises:
        BeingWrittenError: It is running now.
    """
    from loadgen.sessions.files.run_folder import still_running
    from loadgen.sessions.run.report_of_log import write_report
    from loadgen.sessions.series.stored_report import stored_report
    from recorder.errors import LogError
    from recorder.store import LOG_NAME

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
