"""A run in progress: awaiting the log, and repeated reports."""

from __future__ import annotations

import time
from contextlib import suppress
from stat import S_ISREG
from typing import TYPE_CHECKING, Final, TypeVar

from loadgen.sessions.files.run_folder import folder_of
from loadgen.sessions.files.series_file import is_series
from loadgen.sessions.run.report_of_log import make_report
from recorder.errors import NotALogError
from recorder.lock import is_held
from recorder.store import LOG_NAME, log_path, verify
from reporter.log.storage_place import archive_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from reporter.report import Report

Reading = TypeVar("Reading")

LEAST_PAUSE: Final = 3.0
"""A pause lasts at least this many times as long as the reading before it, which so gets a quarter."""

_LOOK_S: Final = 0.1
"""How often it checks whether the run has ended, or begun."""


def reports_while_it_runs(run: Path, interval_s: float) -> Iterator[Report]:
    """The report so far, repeatedly; the caller's display time counts as reading time."""
    return readings_while_it_runs(run, interval_s, lambda: make_report(run, None))


def readings_while_it_runs(run: Path, interval_s: float, read: Callable[[], Reading]) -> Iterator[Reading]:
    """Repeated readings of a run by a function, as for `reports_while_it_runs`."""
    folder = folder_of(run).resolve()
    while is_held(folder):
        started_s = time.monotonic()
        yield read()
        now_s = time.monotonic()
        pause_s = max(started_s + interval_s - now_s, LEAST_PAUSE * (now_s - started_s))
        while (left_s := now_s + pause_s - time.monotonic()) > 0 and is_held(folder):
            time.sleep(min(left_s, _LOOK_S))


def await_log(run: Path, wait_s: float) -> None:
    """Return when a log exists, or a series of logs; at once for an archive."""
    give_up_s = time.monotonic() + wait_s
    while not is_series(run) and (log_path(run).exists() or archive_of(run) is None):
        log = log_path(run)
        may_become_one = _may_become_one(log)  # first: by the time that it fails, it may be a log
        try:
            verify(log)
        except NotALogError:
            if time.monotonic() >= give_up_s or not may_become_one:
                raise
            time.sleep(min(_LOOK_S, wait_s))
        else:
            return


def _may_become_one(log: Path) -> bool:
    """Whether there is no file yet, or one that a process may be making a log of, which holds the folder."""
    with suppress(FileNotFoundError):
        status = log.stat()
        if not S_ISREG(status.st_mode):
            return False
        return not status.st_size or (log.name == LOG_NAME and is_held(log.resolve().parent))
    return True
