"""Where a log is read from."""

from __future__ import annotations

import os
import shutil
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from recorder.errors import NotALogError
from recorder.event import EventType
from recorder.lock import is_held_here
from recorder.session import Session
from recorder.store import Store
from recorder.writer import EventRecorder
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
