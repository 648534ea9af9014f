"""Errors of the log and of its writers.

RecorderError
├── LogError             the file is not a log that this version reads
│   ├── NotALogError     missing, not SQLite, or not ours
│   └── NewerLogError    written by a later version
├── LogExistsError       there is a log already where one should be made
├── LogNotMadeError      the place where it should be made cannot be written to
├── BeingWrittenError    another process writes this run
├── OldLogError          written by an earlier version: to be read, not to be continued
├── LogGoneError         another process has moved, deleted or replaced it while it was written
│   └── LogCutError      another process has cut it short
├── EventError           an event that is not as docs/log.md describes it: it was not recorded
├── NotRecordingError    an event, but no active recorder
├── AlreadyRecordingError  a second active recorder in one process
└── WriterError          the log cannot be written any more (full disk, lost folder)
    └── WriterStalledError   the disk does not take what is written, and the wait for it is over
"""

from __future__ import annotations

import errno
import sqlite3
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from pathlib import Path


class RecorderError(Exception):
    """Anything that the recorder raises."""


class LogError(RecorderError):
    """The file is not a log that this version reads."""


class NotALogError(LogError):
    """The file is missing, is not SQLite, or was not written by this program."""


class NewerLogError(LogError):
    """The log was written by a later version of this program."""


class LogExistsError(RecorderError):
    """There is a log already where one should be made."""


class LogNotMadeError(RecorderError):
    """The place where the log should be made cannot be written to."""


class LogGoneError(RecorderError):
    """The open log was moved, deleted or replaced."""


class LogCutError(LogGoneError):
    """A part of the log that is being written was cut off."""


class BeingWrittenError(RecorderError):
    """Another process is writing this run: a run has one writer."""


class OldLogError(RecorderError):
    """The log was written by an earlier version of this program, which cannot be continued."""


class EventError(RecorderError, ValueError):
    """An event violates docs/log.md: the event was not recorded, and recording can continue."""


class NotRecordingError(RecorderError):
    """An event came while no recorder was active."""


class AlreadyRecordingError(RecorderError):
    """A process has one active recorder, and this would be the second."""


class WriterError(RecorderError):
    """The log cannot be written any more: the disk is full, or the log is gone."""


class WriterStalledError(WriterError):
    """The disk stopped accepting writes for longer than the allowed wait."""


_INTACT: Final = "Earlier events are intact."
_FULL: Final = (
    f"{_INTACT} Free disk space, then type `loadgen resume` (`loadgen score` for a scoring), or "
    "run again with another --out"
)
_LOCKED: Final = f"{_INTACT} Another program has locked the log all the time: end it, and run again"
_GONE: Final = "Another process changed the run's folder during the run: keep others out, and run again"
_OTHER: Final = (
    f"{_INTACT} Check `ulimit -f` and the system's log for disk errors, or choose another --out, "
    "and run again"
)


def broken(log: Path, error: Exception, lost: int) -> WriterError:
    """The log can no longer be written; `lost` events are missing."""
    events = "1 event is" if lost == 1 else f"{lost} events are"
    failure = WriterError(
        f"{log}: the log cannot be written any more ({error}). {events} not in it. {_remedy(error)}"
    )
    failure.__cause__ = error
    return failure


def stalled(log: Path, seconds: float, events: int) -> WriterStalledError:
    """The disk accepted no write for `seconds`; `events` events are not in the log."""
    return WriterStalledError(
        f"{log}: the disk has not taken anything for {seconds:.0f} s; about {events} events are not in the "
        f"log. {_INTACT} Look for what holds up the disk, or for a program that has locked the log, and run "
        "again; `loadgen report` reads what there is"
    )


def _remedy(error: BaseException) -> str:
    """The remaining data and the remedy, in sentences without the last full stop."""
    if isinstance(error, LogGoneError):
        return _GONE
    if isinstance(error, OSError):
        return _FULL if error.errno in {errno.ENOSPC, errno.EDQUOT} else _OTHER
    # The code is only there in an error that came from SQLite itself.
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    return {sqlite3.SQLITE_FULL: _FULL, sqlite3.SQLITE_BUSY: _LOCKED}.get(code, _OTHER)
