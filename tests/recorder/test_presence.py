"""Whether a log is still where it was made."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest

from recorder import schema
from recorder.errors import LogGoneError, WriterError
from recorder.event import Event, EventType
from recorder.presence import Presence
from recorder.session import Session
from recorder.store import Store
from recorder.writer import EventRecorder

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def test_a_log_that_grows_is_there(tmp_path: Path) -> None:
    """Also while what lies beside it is not there yet, and when it comes."""
    log = tmp_path / "events.db"
    presence = Presence(log)
    for length in (1, 1, 5):
        log.write_bytes(bytes(length))
        presence.require()
    (tmp_path / "events.db-wal").write_bytes(b"ahead")
    presence.require()


def deleted(log: Path) -> None:
    """The whole folder."""
    shutil.rmtree(log.parent)


def moved(log: Path) -> None:
    """The whole folder."""
    log.parent.rename(log.parent.with_name("elsewhere"))


def replaced(log: Path) -> None:
    """By a copy, as an editor does."""
    copy = log.with_name("copy")
    shutil.copyfile(log, copy)
    copy.replace(log)


def cut_short(log: Path) -> None:
    """As `> events.db` does."""
    log.write_bytes(b"")


def without_its_wal(log: Path) -> None:
    """Somebody has tidied up."""
    log.with_name("events.db-wal").unlink()


WAYS: dict[str, tuple[Callable[[Path], Any], str]] = {
    "deleted": (deleted, "events.db was moved or deleted"),
    "moved": (moved, "events.db was moved or deleted"),
    "replaced": (replaced, "events.db was replaced or cut short"),
    "cut short": (cut_short, "events.db was replaced or cut short"),
    "without its WAL": (without_its_wal, "events.db-wal was moved or deleted"),
}


@pytest.mark.parametrize("way", WAYS)
def test_a_log_that_is_taken_away_is_noticed(tmp_path: Path, way: str) -> None:
    """By the next batch, although SQLite would go on writing to a file that nobody can find."""
    take_away, said = WAYS[way]
    log = tmp_path / "run" / "events.db"
    failures: list[WriterError] = []
    recorder = EventRecorder(path=log, on_failure=failures.append)
    recorder.__enter__()
    recorder.put(Event(EventType.TEST_STARTED, 1))
    recorder.wait_for_writes()
    take_away(log)
    recorder.put(Event(EventType.FIRST_CHUNK, 2, "a"))
    with pytest.raises(WriterError, match=said) as caught:
        recorder.wait_for_writes()
    assert isinstance(caught.value.__cause__, LogGoneError)
    assert "leave it alone, and run again" in str(caught.value)
    assert failures == [caught.value]
    with pytest.raises(WriterError):
        recorder.close()
    assert recorder.health.lost == 1


def test_the_run_that_has_taken_its_place_lives_on(tmp_path: Path) -> None:
    """Who notices that it writes for nothing leaves alone what lies there now under the same names."""
    log = tmp_path / "run" / "events.db"
    recorder = EventRecorder(path=log)
    recorder.__enter__()
    recorder.put(Event(EventType.TEST_STARTED, 1))
    recorder.wait_for_writes()
    deleted(log)
    other = Store.create(log, Session())
    row = schema.row(Event(EventType.FIRST_CHUNK, 2, "a"))
    other.append([row] * 1000)
    recorder.put(Event(EventType.FIRST_CHUNK, 2, "a"))
    with pytest.raises(WriterError, match="replaced"):
        recorder.close()
    assert sorted(path.name for path in log.parent.iterdir()) == [
        "events.db",
        "events.db-shm",
        "events.db-wal",
    ]
    other.append([row])
    with closing(sqlite3.connect(log)) as reader:
        assert reader.execute("SELECT count(*) FROM events").fetchone() == (1001,)
    other.close()
