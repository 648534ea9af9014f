"""Running a series: one point after the other; complete points are kept, the others are run."""

from __future__ import annotations

import gc
import time
from contextlib import contextmanager, suppress
from itertools import count
from typing import TYPE_CHECKING

from loadgen.sessions.arguments import program
from loadgen.sessions.error_exit_codes import is_interrupt
from loadgen.sessions.errors import UsageError
from loadgen.sessions.files import series_file as files
from loadgen.sessions.files.run_folder import is_claimed
from loadgen.sessions.interrupt import require_no_stop
from loadgen.sessions.observer import SILENT, Observer
from loadgen.sessions.run.resumption import is_to_be_scored
from loadgen.sessions.run.scoring_at_end import score
from loadgen.sessions.series.outcomes_so_far import exit_code_of, outcome_of, stored_report
from loadgen.sessions.series.point_options import Secrets, settings_of
from loadgen.sessions.series.run_rows import rows
from loadgen.sessions.series_outcome import UNFINISHED, PointOutcome, SeriesResult
from recorder.errors import BeingWrittenError, LogError
from recorder.lock import Hold
from reporter.log.so_far import so_far

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from loadgen.sessions.files.series_file import Series, SeriesPoint

    Following = Callable[[Sequence[PointOutcome]], SeriesPoint | None]

SUMMARY = "summary.json"


def run_series(
    folder: Path,
    series: Series,
    secrets: Callable[[SeriesPoint], Secrets],
    *,
    observer: Observer = SILENT,
    following: Following | None = None,
    stop_after: Callable[[PointOutcome], bool] | None = None,
    remark: Callable[[PointOutcome], str] | None = None,
) -> SeriesResult:
    """Run every incomplete point; complete points are read from their logs.

    A point whose run was cut off is moved aside, to `NAME.cut-1`, and run again. `series.json` is written
    first, `summary.json` after every point. To resume a series, call this with the result of `series.read`.

    Args:
        folder: Its folder, which is created.
        series: The series.
        secrets: Gives the secrets of a point.
        observer: Gets the progress.
        following: Gives the point after those of the series, from all outcomes so far; None ends the series.
            It must depend on these alone, so that a series can be resumed.
        stop_after: Whether the series stops after a point that has just been run. Points that were complete
            before are not checked: a resumed series continues after them.
        remark: Gives a remark on a run that has ended.

    Raises:
        UsageError: Another process runs it.
        UnreachableError, RejectedError, SetupError…: A point could not be run at all: that ends the series.
            If it was the first of a new series, no files are left behind.
    """
    is_new, is_made = not files.is_series(folder), not folder.exists() or is_claimed(folder)
    folder.mkdir(parents=True, exist_ok=True)
    outcomes: list[PointOutcome] = []
    with _held(folder):
        files.write(folder, series)
        try:
            for outcome, is_fresh in _outcomes(folder, series, secrets, following, observer):
                observer.run_ended(outcome, None if remark is None else remark(outcome))
                outcomes.append(outcome)
                files.write_json(folder / SUMMARY, {"kind": series.kind, "points": rows(outcomes, folder)})
                if is_fresh and stop_after is not None and stop_after(outcome):
                    break
        except BaseException as error:
            stopped = is_interrupt(error)
            if is_new and not stopped and not any(path.is_dir() for path in folder.iterdir()):
                (folder / files.SERIES).unlink(missing_ok=True)
                if is_made:
                    folder.rmdir()
            else:
                observer.note(
                    f"The series is in {folder}, not complete; to continue: {program()} resume {folder}",
                    apart=True,
                )
            if not stopped:
                raise
            return SeriesResult(tuple(outcomes), interrupted=True)
    return SeriesResult(tuple(outcomes), interrupted=False)


def _outcomes(
    folder: Path,
    series: Series,
    secrets: Callable[[SeriesPoint], Secrets],
    following: Following | None,
    observer: Observer,
) -> Iterator[tuple[PointOutcome, bool]]:
    """The outcomes of the points in order, each with whether the point was run just now."""
    outcomes: list[PointOutcome] = []
    rest_s, planned = 0.0, len(series.points)
    for number in count():
        if number == len(series.points):
            point = following(outcomes) if following else None
            if point is None:
                return
            series = series.with_point(point)
            files.write(folder, series)
        _score_rest(folder, series, number, secrets, observer)
        outcome = outcome_of(folder, series, number, observer)
        is_new = outcome is None
        if outcome is None:
            observer.run_begins(series.points[number], number, planned, rest_s)
            time.sleep(rest_s)
            rest_s = series.cooldown_s
            outcome = _run(folder, series, number, secrets, observer)
        outcomes.append(outcome)
        yield outcome, is_new
        # An interrupt at the very end of a run still ends the series.
        require_no_stop()


def _run(
    folder: Path,
    series: Series,
    number: int,
    secrets: Callable[[SeriesPoint], Secrets],
    observer: Observer,
) -> PointOutcome:
    from loadgen.sessions.run_session import run

    place, point = files.folder_of(folder, series, number), series.points[number]
    _set_aside(place)
    try:
        report, _ = run(settings_of(point, secrets(point), out=place), observer=observer)
    finally:
        # A run freezes its objects until it ends, and this process lives on.
        gc.unfreeze()
    if report.run.ended in UNFINISHED:
        raise KeyboardInterrupt
    # As it will be read when the series is resumed, to the last digit.
    stored = stored_report(place) or report
    return PointOutcome(number, point, place, stored, exit_code_of(stored, series, number))


def _score_rest(
    folder: Path,
    series: Series,
    number: int,
    secrets: Callable[[SeriesPoint], Secrets],
    observer: Observer,
) -> None:
    """Finish the interrupted scoring of a point of benchmarks."""
    place, point = files.folder_of(folder, series, number), series.points[number]
    if not point.options.get("task") or not place.exists():
        return
    with suppress(LogError):
        run = so_far(place)
        if run.ended == "completed" and is_to_be_scored(run):
            perf = settings_of(point, secrets(point), out=place)
            score(perf.tasks, perf.cluster, place, observer)


def _set_aside(place: Path) -> None:
    """Make room for a run: an unfinished one is renamed."""
    if place.exists():
        names = (place.with_name(f"{place.name}.cut-{number}") for number in count(1))
        place.rename(next(name for name in names if not name.exists()))


@contextmanager
def _held(folder: Path) -> Iterator[None]:
    """Keep other processes from running the series."""
    try:
        hold = Hold(folder)
    except BeingWrittenError as error:
        raise UsageError(f"{folder}: another process runs this series; wait for its end") from error
    try:
        yield
    finally:
        hold.release()
