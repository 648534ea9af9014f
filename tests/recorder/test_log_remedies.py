"""What is said when a log cannot be written any more."""

from __future__ import annotations

import errno
import sqlite3
from contextlib import suppress
from pathlib import Path

import pytest

from recorder.errors import WriterError, broken, stalled
from recorder.event import Event, EventType
from recorder.writer import EventRecorder

LOG = Path("run/events.db")


def test_a_full_disk_as_sqlite_says_it(tmp_path: Path) -> None:
    """Its own error code decides, whatever the words are."""
    with sqlite3.connect(tmp_path / "full.db", isolation_level=None) as connection:
        connection.execute("CREATE TABLE t (x)")
        connection.execute("PRAGMA max_page_count = 3")
        with pytest.raises(sqlite3.OperationalError) as caught:
            connection.execute("INSERT INTO t VALUES (zeroblob(100000))")
    connection.close()
    assert str(broken(LOG, caught.value, 3)) == (
        "run/events.db: the log cannot be written any more (database or disk is full). 3 events are not "
        "in it. Earlier events are intact. Free disk space, then type `loadgen resume` "
        "(`loadgen score` for a scoring), or run again with another --out"
    )


def test_a_full_disk_as_the_system_says_it() -> None:
    """The same remedy; another error has another one."""
    full = broken(LOG, OSError(errno.ENOSPC, "No space left on device"), 1)
    assert "1 event is not in it. Earlier events are intact. Free disk space" in str(full)
    assert "ulimit -f" in str(broken(LOG, OSError(errno.EIO, "Input/output error"), 1))


def test_a_disk_that_gets_full_ends_the_recording(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was committed is intact, the batch that found no room is not there in part."""
    connect = sqlite3.connect

    def small(*arguments: object, **options: object) -> sqlite3.Connection:
        connection = connect(*arguments, **options)  # type: ignore[call-overload]  # what it was given
        connection.execute("PRAGMA max_page_count = 15")
        return connection  # type: ignore[no-any-return]  # of the call above

    log = tmp_path / "events.db"
    monkeypatch.setattr(sqlite3, "connect", small)
    recorder = EventRecorder(path=log)
    recorder.__enter__()
    for at_ns in range(500):
        recorder.put(Event(EventType.FIRST_CHUNK, at_ns, "a" * 1000))
        if at_ns % 50 == 49 and recorder.failure is None:
            with suppress(WriterError):
                recorder.wait_for_writes()
    with pytest.raises(WriterError, match="Free disk space") as caught:
        recorder.close()
    assert recorder.health.lost > 1
    assert f" {recorder.health.lost} events are not in it." in str(caught.value)
    monkeypatch.undo()
    connection = sqlite3.connect(log)
    stored = [
        at_ns for (at_ns,) in connection.execute("SELECT at_ns FROM events WHERE code = 22 ORDER BY seq")
    ]
    connection.close()
    assert stored == list(range(len(stored)))
    assert len(stored) == recorder.health.events > 0


def test_a_disk_that_takes_nothing() -> None:
    """How long, how many, and what to look for."""
    message = str(stalled(LOG, 7.2, 12_345))
    assert "has not taken anything for 7 s; about 12345 events are not in the log" in message
    assert "locked the log" in message
