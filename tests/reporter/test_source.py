"""Where a log is read from."""

from __future__ import annotations

import os
import shutil
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from recorder import schema
from recorder.errors import BeingWrittenError, NotALogError
from recorder.event import Event, EventType
from recorder.lock import is_held_here
from recorder.session import Session
from recorder.store import Store, verify
from recorder.writer import EventRecorder
from reporter.log import source
from reporter.log.source import readable

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A log in a folder that cannot be written to; for the administrator, too."""
    path = tmp_path / "events.db"
    Store.create(path, Session()).close()
    monkeypatch.setattr(os, "access", lambda *_: False)
    return path


def test_a_log_that_cannot_be_read_where_it_lies_is_copied(log: Path) -> None:
    """The copy is there for as long as it is read."""
    with readable(log) as uri:
        assert uri.endswith("/events.db?mode=ro")
        assert str(log.parent) not in uri


def test_only_regular_files_are_copied(log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A device in the place of a log's write-ahead file would be copied without end."""
    copied: list[object] = []
    monkeypatch.setattr(shutil, "copyfile", lambda source, _: copied.append(source))
    log.with_name("events.db-wal").symlink_to("/dev/zero")
    with pytest.raises(NotALogError, match="not a regular file, so it is not one of SQLite's"), readable(log):
        pass
    assert copied == []


def test_what_this_process_writes_is_read_from_a_snapshot(tmp_path: Path) -> None:
    """Arrow's SQLite must not open a log that Python's has open in one process: they do not see locks."""
    path = tmp_path / "events.db"
    with EventRecorder(path=path) as recorder:
        recorder.record_event(EventType.TEST_STARTED, 1)
        recorder.wait_for_writes()
        assert is_held_here(tmp_path)
        with readable(path) as uri:
            assert str(tmp_path) not in uri
            recorder.record_event(EventType.TEST_ENDED, 2, data={"reason": "completed"})
            recorder.wait_for_writes()
            with closing(sqlite3.connect(uri, uri=True)) as connection:
                assert connection.execute("SELECT count(*) FROM events WHERE code = 1").fetchone() == (1,)
                assert connection.execute("SELECT count(*) FROM events WHERE code = 5").fetchone() == (0,)
    assert not is_held_here(tmp_path)
    with readable(path) as uri:
        assert uri.startswith(path.as_uri())


def test_what_another_machine_writes_is_read_from_a_copy_of_one_moment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SQLite's index is not shared by two machines, so the log is not opened; a torn copy is made again."""
    path = tmp_path / "events.db"
    writer = Store.create(path, Session())
    monkeypatch.setattr(source, "is_held_here", lambda _: False)

    def write(times: int) -> None:
        for at_ns in range(times):
            writer.append([schema.row(Event(EventType.TEST_STARTED, at_ns))])

    def overwrite_write_ahead() -> None:
        with closing(sqlite3.connect(path)) as connection:
            connection.execute("PRAGMA wal_checkpoint(RESTART)")
        write(1)

    write(3)
    index = path.with_name("events.db-shm")
    monkeypatch.setattr(source, "verify", lambda log: verify(log) if log != path else pytest.fail("opened"))
    before = index.stat().st_mtime_ns, index.read_bytes()
    assert _rows(path) == 3
    assert (index.stat().st_mtime_ns, index.read_bytes()) == before

    copyfile, copies = shutil.copyfile, []

    def meanwhile(original: Path, to: Path) -> None:
        copyfile(original, to)
        copies.append(original)
        if len(copies) == 1 or is_fast:
            overwrite_write_ahead()

    is_fast = False
    monkeypatch.setattr(shutil, "copyfile", meanwhile)
    assert _rows(path) == 4
    assert len(copies) == 4
    is_fast = True
    with pytest.raises(BeingWrittenError, match="grows faster than it can be copied"):
        _rows(path)
    writer.close()


def _rows(log: Path) -> int:
    """How many events a log of another machine has."""
    with readable(log, is_elsewhere=True) as uri, closing(sqlite3.connect(uri, uri=True)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        return int(connection.execute("SELECT count(*) FROM events").fetchone()[0])
