"""A log that comes from anywhere: what is more than a log is refused, and runs nothing."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from recorder.errors import LogExistsError, NotALogError
from recorder.session import Session
from recorder.store import Store, verify

if TYPE_CHECKING:
    from pathlib import Path

ENDLESS = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT x AS seq FROM n"


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """An empty log."""
    path = tmp_path / "events.db"
    Store.create(path, Session()).close()
    return path


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (f"DROP TABLE events; CREATE VIEW events AS {ENDLESS}", "'events' is not a plain"),
        (f"DROP TABLE event_types; CREATE VIEW Event_Types AS {ENDLESS}", "'Event_Types' is not a plain"),
        ("DROP TABLE session; CREATE VIEW session AS SELECT * FROM session", "'session' is not a plain"),
        ("DROP TABLE events; CREATE VIRTUAL TABLE events USING fts5(data)", "'events' is not a plain"),
        ("ALTER TABLE events ADD COLUMN x AS (zeroblob(900000000))", "'x' of 'events' is computed"),
        ("CREATE TRIGGER t AFTER INSERT ON events BEGIN DELETE FROM session; END", "a trigger in it ('t')"),
    ],
)
def test_what_would_run_is_refused(log: Path, change: str, why: str) -> None:
    """By name, before it is read."""
    with closing(sqlite3.connect(log)) as connection:
        connection.executescript(change)
    with pytest.raises(NotALogError) as raised:
        verify(log)
    assert why in str(raised.value)


def test_a_users_views_and_indices_are_allowed(log: Path) -> None:
    """Views and indices of one's own change nothing that is read."""
    with closing(sqlite3.connect(log)) as connection:
        connection.executescript("CREATE VIEW mine AS SELECT 1; CREATE INDEX mine_too ON events (code)")
    verify(log)


@pytest.mark.parametrize("name", ["events.db", "events.db-wal", "events.db-shm", "events.db-journal"])
def test_no_pipe_is_opened(log: Path, name: str) -> None:
    """It would be waited for, without end."""
    path = log.with_name(name)
    path.unlink(missing_ok=True)
    os.mkfifo(path)
    with pytest.raises(NotALogError, match=f"{name}: not a regular file"):
        verify(log)


@pytest.mark.parametrize("device", ["/dev/zero", "/dev/null"])
def test_no_device_is_read(log: Path, device: str) -> None:
    """Some have no end."""
    log.with_name("events.db-wal").symlink_to(device)
    with pytest.raises(NotALogError, match=r"events\.db-wal: not a regular file"):
        verify(log)
    log.unlink()
    log.symlink_to(device)
    with pytest.raises(NotALogError, match=r"events\.db: not a regular file"):
        verify(log)


def test_a_link_to_a_log_is_read_and_not_written_through(log: Path, tmp_path: Path) -> None:
    """Also where it leads to nothing yet."""
    link, loose = tmp_path / "link.db", tmp_path / "loose.db"
    link.symlink_to(log)
    verify(link)
    loose.symlink_to(tmp_path / "elsewhere.db")
    for path in (link, loose):
        with pytest.raises(LogExistsError):
            Store.create(path, Session())
    assert not (tmp_path / "elsewhere.db").exists()
