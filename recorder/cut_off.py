"""End a log whose writer is gone: mark open requests and phases as lost."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING, Final

import orjson

from recorder import schema
from recorder.continued_log import require_current
from recorder.event import TERMINAL, Event, EventType
from recorder.file_checks import require_own_files
from recorder.journal import roll_back
from recorder.lock import Hold

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_OPEN: Final = f"""
    SELECT sample_uuid FROM events WHERE code = {EventType.LOADGEN_ISSUE_CALLED.value}
    EXCEPT SELECT sample_uuid FROM events WHERE code IN ({", ".join(str(kind.value) for kind in TERMINAL)})
"""  # noqa: S608 (constants)

_SESSION: Final = (
    EventType.TEST_STARTED,
    EventType.PHASE_STARTED,
    EventType.STOP_PERFORMANCE_TRACKING,
    EventType.PHASE_ENDED,
    EventType.TEST_ENDED,
)
_LAST: Final = f"""
    SELECT code, data FROM events WHERE code IN ({", ".join(str(kind.value) for kind in _SESSION)})
    ORDER BY seq DESC LIMIT 1
"""  # noqa: S608 (constants)

_LAST_SIGN: Final = """
    SELECT max(coalesce((SELECT max(at_ns) FROM events), 0), (SELECT max(written_ns) FROM heartbeats))"""

_INSERT: Final = (
    f"INSERT INTO events ({', '.join(schema.COLUMNS)}) VALUES ({', '.join('?' * len(schema.COLUMNS))})"  # noqa: S608
)


def end_cut_off(path: Path, *, error: str, message: str, reason: str) -> int:
    """End a log at the last sign of life, unless ended already; return the number of open requests.

    Raises:
        BeingWrittenError: A process writes it.
        LogError, OldLogError: It is not a log of this version.
        OSError, sqlite3.Error: It cannot be written to.
    """
    hold = Hold(path.parent)
    try:
        require_current(path)
        require_own_files(path)
        roll_back(path.resolve())
        with closing(sqlite3.connect(path, isolation_level=None)) as connection:
            connection.execute("BEGIN IMMEDIATE")
            (at_ns,) = connection.execute(_LAST_SIGN).fetchone()
            last = connection.execute(_LAST).fetchone()
            lost = [uuid for (uuid,) in connection.execute(_OPEN)]
            failures = [
                Event(EventType.ERROR, at_ns, uuid, {"error": error, "message": message}) for uuid in lost
            ]
            ends = [] if last is None else list(_ends(EventType(last[0]), last[1], at_ns, reason))
            connection.executemany(_INSERT, map(schema.row, [*failures, *ends]))
            connection.execute("COMMIT")
            connection.execute("PRAGMA journal_mode = DELETE")
    finally:
        hold.release()
    return len(lost)


def _ends(last: EventType, data: str | None, at_ns: int, reason: str) -> Iterator[Event]:
    """The events that end a session after its last logged event, in order."""
    phase = (orjson.loads(data) if data else {}).get("phase")
    if last is EventType.PHASE_STARTED and phase == "performance":
        yield Event(EventType.STOP_PERFORMANCE_TRACKING, at_ns, data={"reason": reason})
    if last is EventType.STOP_PERFORMANCE_TRACKING:
        phase = "performance"
    if last in {EventType.PHASE_STARTED, EventType.STOP_PERFORMANCE_TRACKING}:
        yield Event(EventType.PHASE_ENDED, at_ns, data={"phase": phase})
    if last is not EventType.TEST_ENDED:
        yield Event(EventType.TEST_ENDED, at_ns, data={"reason": reason})
