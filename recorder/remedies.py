"""Messages for a log that can no longer be written: the loss, and the remedy."""

from __future__ import annotations

import errno
import sqlite3
from typing import TYPE_CHECKING, Final

from recorder.errors import LogGoneError, WriterError, WriterStalledError

if TYPE_CHECKING:
    from pathlib import Path

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
        "again; `loadgen report` reads what there is",
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
