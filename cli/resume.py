"""`loadgen resume`: an interrupted run, finished."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from cli.preparing import Prepared
    from cli.resume_settings import ResumeSettings


def resume(settings: ResumeSettings) -> None:
    """Finish a run that was interrupted, killed, or given up, without asking again what was answered.

    The run must have had a number of requests, not only a duration. What it was to do is in its log, all but
    the secrets. A failure counts as a result and is not asked again; the report is of the whole run, and the
    exit code is that of [bold]loadgen perf[/bold].

    Of a run that asked benchmarks, the answers are scored when they are there, and scoring that was
    interrupted is gone on with.

    The folder of a sweep, a search or a suite is gone on with at its first unfinished run, which is moved
    aside and run anew.

    [bold]Example[/bold]

    loadgen resume runs/20260101-120000-llama
    """
    from cli.series.series import is_series

    if is_series(settings.run):
        from cli.series.resuming import resume_series

        resume_series(settings)
        return
    _resume_run(settings)


def _resume_run(settings: ResumeSettings) -> None:
    from cli.perf import conduct, reported, score_if_over, tell
    from cli.resuming import prepare_again, resumable, settings_again
    from cli.run_folder import folder_of
    from cli.session_scoring import score
    from loadgen.workers.staff import Staff

    run, folder = resumable(settings.run), folder_of(settings.run)
    if run.ended == "completed":
        given = settings_again(settings, run)
        score(given, folder)
        tell(reported(folder, None), folder, given)
    prepared, broken = prepare_again(settings, run), None
    if prepared.left:
        if not settings.quiet:
            sys.stderr.write(_announcement(prepared))
        if prepared.given.abort_on_fail:
            sys.stderr.write("note: --abort-on-fail follows no run that is resumed; it goes on to its end\n")
        with Staff(prepared.given.transport) as staff:
            broken = conduct(prepared, staff, folder)
    else:
        _end_it(prepared, folder)
    score_if_over(prepared, folder, broken)
    tell(reported(folder, broken), folder, prepared.given)


def _announcement(prepared: Prepared) -> str:
    from cli.errors import printable

    what = "requests" if prepared.plan.sessions is None else "conversations"
    where = printable(" and ".join(target.url for target in prepared.targets))
    return f"resuming: {prepared.plan.count} {what} are left to ask of {where}\n"


def _end_it(prepared: Prepared, folder: Path) -> None:
    """Close a log that has everything but an end: a sitting in which nothing was left to do."""
    import time

    from cli.wiring import environment
    from recorder.event import EventType
    from recorder.store import LOG_NAME
    from recorder.writer import EventRecorder

    with EventRecorder(
        path=folder / LOG_NAME, environment=environment(), resume=True, after_seq=prepared.after_seq
    ) as recorder:
        recorder.record_event(EventType.TEST_STARTED, time.monotonic_ns())
        recorder.record_event(EventType.TEST_ENDED, time.monotonic_ns(), data={"reason": "completed"})
