"""Whether a log is still where it was made."""

from __future__ import annotations

import os
import shutil
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest

from recorder import schema
from recorder.errors import LogCutError, LogGoneError, WriterError
from recorder.event import Event, EventType
from recorder.file_checks import Presence
from recorder.session import Session
from recorder.store import Store
from recorder.writer import EventRecorder

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


pytestmark = pytest.mark.usefixtures("health_at_the_end_alone")


@pytest.fixture(autouse=True)
def _batches_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """A recorder looks after its log with the next batch, and with no heartbeat in the middle of a change."""
    monkeypatch.setattr("recorder.writer.HEARTBEAT_S", 3600.0)


def test_a_log_that_grows_is_there(tmp_path: Path) -> None:
    """Also while the files next to it are not there yet, and when it comes."""
    log = tmp_path / "events.db"
    presence = Presence(log)
    for length in (1, 1, 5):
        log.write_bytes(bytes(length))
        presence.require()
    (tmp_path / "events.db-wal").write_bytes(b"ahead")
    presence.require()


def test_a_reader_that_comes_and_goes_removes_nothing(tmp_path: Path) -> None:
    """SQLite's last connection removes the write-ahead log: the writer's counts from the beginning."""
    log = tmp_path / "events.db"
    store = Store.create(log, Session("a session", 1, 2, {}, {}))
    presence = Presence(log)
    with closing(sqlite3.connect(log)) as reader:
        assert reader.execute("SELECT count(*) FROM events").fetchone() == (0,)
        presence.require()
    presence.require()
    store.append([schema.row(Event(EventType.TEST_STARTED, 1, None, {}))])
    presence.require()
    store.close()


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
    """A caller has tidied up."""
    log.with_name("events.db-wal").unlink()


def with_its_wal_cut(log: Path) -> None:
    """As `truncate -s 0 events.db-wal` does: SQLite would go on behind the gap."""
    os.truncate(log.with_name("events.db-wal"), 0)


WAYS: dict[str, tuple[Callable[[Path], Any], str]] = {
    "deleted": (deleted, "events.db was moved or deleted"),
    "moved": (moved, "events.db was moved or deleted"),
    "replaced": (replaced, "events.db was replaced"),
    "cut short": (cut_short, "events.db was cut short"),
    "without its WAL": (without_its_wal, "events.db-wal was moved or deleted"),
    "with its WAL cut": (with_its_wal_cut, "events.db-wal was cut short"),
}


@pytest.mark.parametrize("way", WAYS)
def test_a_log_that_is_taken_away_is_noticed(tmp_path: Path, way: str) -> None:
    """By the next batch, although SQLite would go on writing to a file that has no name any more."""
    take_away, text = WAYS[way]
    log = tmp_path / "run" / "events.db"
    failures: list[WriterError] = []
    recorder = EventRecorder(path=log, on_failure=failures.append)
    recorder.__enter__()
    recorder.put(Event(EventType.TEST_STARTED, 1))
    recorder.wait_for_writes()
    take_away(log)
    recorder.put(Event(EventType.FIRST_CHUNK, 2, "a"))
    with pytest.raises(WriterError, match=text) as caught:
        recorder.wait_for_writes()
    assert isinstance(caught.value.__cause__, LogGoneError)
    assert "keep others out, and run again" in str(caught.value)
    (first,) = failures
    assert first.__cause__ is caught.value.__cause__
    with pytest.raises(WriterError):
        recorder.close()
    assert recorder.health.lost == 1


def test_a_log_that_is_taken_away_during_a_batch_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SQLite's own error would blame the disk."""
    log = tmp_path / "run" / "events.db"

    def append(*_: Any) -> None:
        deleted(log)
        raise sqlite3.OperationalError("disk I/O error")

    recorder = EventRecorder(path=log)
    recorder.__enter__()
    monkeypatch.setattr(Store, "append", append)
    recorder.put(Event(EventType.TEST_STARTED, 1))
    with pytest.raises(WriterError, match=r"events.db was moved or deleted.*keep others out"):
        recorder.close()


FEW = 40
"""Few enough events that SQLite folds none into the file, but for the first batch of a log."""
MANY = 4000
"""Enough that it has folded most."""


@pytest.mark.parametrize(("events", "stored"), [(2 * FEW, FEW), (MANY, MANY // 2)])
def test_what_is_left_of_a_log_that_was_cut_is_whole(tmp_path: Path, events: int, stored: int) -> None:
    """What had been folded into the file can be read, and nothing has been spoilt."""
    log = tmp_path / "events.db"
    recorder = EventRecorder(path=log)
    recorder.__enter__()
    for at_ns in range(0, events, FEW):
        recorder.put_rows([schema.row(big_event(at_ns))] * FEW, at_ns)
        recorder.wait_for_writes()
    with_its_wal_cut(log)
    with pytest.raises(WriterError, match="was cut short, from"):
        recorder.close()
    assert stored <= sound_events(log) <= events
    assert sound_events(log) < events


def test_a_log_that_was_cut_while_a_batch_was_written(tmp_path: Path) -> None:
    """The next look finds the gap, though the file is as long as it should be."""
    log = tmp_path / "events.db"
    presence, store = Presence(log), Store.create(log, Session())
    for at_ns in (1, 2):
        store.append([schema.row(big_event(at_ns))] * FEW)
    presence.require_whole()
    with_its_wal_cut(log)
    store.append([schema.row(big_event(3))] * FEW)
    presence.require()
    with pytest.raises(LogCutError, match="while it was written to"):
        presence.require_whole()
    store.abandon(cut=True)
    assert sound_events(log) == FEW


def test_an_older_part_of_a_log_does_not_spoil_it(tmp_path: Path) -> None:
    """Where all has been folded into the file, half of what was written ahead is worse than nothing."""
    log, wal = tmp_path / "events.db", tmp_path / "events.db-wal"
    store = Store.create(log, Session())
    for at_ns in range(5):
        store.append([schema.row(big_event(at_ns))] * FEW)
    with closing(sqlite3.connect(log)) as other:
        assert other.execute("PRAGMA wal_checkpoint").fetchone()[0] == 0
    os.truncate(wal, wal.stat().st_size // 2)
    store.abandon(cut=True)
    assert sound_events(log) == 5 * FEW


def big_event(at_ns: int) -> Event:
    """An event that takes some room."""
    return Event(EventType.COMPLETE, at_ns, "a", {"said": "x" * 1000})


def sound_events(log: Path) -> int:
    """How many events a log has, all of which can be read."""
    with closing(sqlite3.connect(log)) as reader:
        assert reader.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        return len(reader.execute("SELECT * FROM events").fetchall())


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
