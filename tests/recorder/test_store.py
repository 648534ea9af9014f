"""The SQLite file: what is a log and what is not."""

import sqlite3
from functools import partial
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recorder import schema
from recorder.errors import NewerLogError, NotALogError
from recorder.event import Event, EventType
from recorder.session import Session
from recorder.store import ROWS_A_STATEMENT, Store, verify

MANY, SOME, _ = ROWS_A_STATEMENT


def make(path: Path) -> Path:
    """An empty log."""
    Store.create(path, Session()).close()
    return path


def test_a_new_log_is_one_that_this_version_reads(tmp_path: Path) -> None:
    """`verify` knows what `create` made."""
    assert verify(make(tmp_path / "events.db")) == schema.VERSION


def test_every_event_type_is_in_the_lookup_table(tmp_path: Path) -> None:
    """Plain SQL can name what happened."""
    connection = sqlite3.connect(make(tmp_path / "events.db"))
    result = dict(connection.execute("SELECT code, name FROM event_types"))
    connection.close()
    assert result == {kind.value: kind.name for kind in EventType}


def test_a_missing_file_is_not_a_log(tmp_path: Path) -> None:
    """The message names the file."""
    with pytest.raises(NotALogError, match=r"nowhere\.db: no file has this name"):
        verify(tmp_path / "nowhere.db")


def test_another_file_is_not_a_log(tmp_path: Path) -> None:
    """Neither is a text file, nor another process's database."""
    text = tmp_path / "text.db"
    text.write_text("hello, I am not a database, but I am long enough to be taken for one" * 20)
    with pytest.raises(NotALogError, match="not a SQLite file"):
        verify(text)
    other = tmp_path / "other.db"
    connection = sqlite3.connect(other)
    connection.execute("CREATE TABLE t (x)")
    connection.close()
    with pytest.raises(NotALogError, match="not a log of this program"):
        verify(other)


def test_a_log_that_another_program_has_locked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The message does not call the log damaged."""
    holder = sqlite3.connect(make(tmp_path / "events.db"), isolation_level=None)
    holder.execute("PRAGMA journal_mode = DELETE")
    holder.execute("BEGIN EXCLUSIVE")
    monkeypatch.setattr(sqlite3, "connect", partial(sqlite3.connect, timeout=0))
    with pytest.raises(NotALogError, match=r"events\.db: another program has locked it"):
        verify(tmp_path / "events.db")
    holder.close()


def test_a_newer_log_is_refused_with_both_versions(tmp_path: Path) -> None:
    """The message says what wrote it, what reads it, and what to do."""
    path = make(tmp_path / "events.db")
    connection = sqlite3.connect(path)
    connection.execute(f"PRAGMA user_version = {schema.VERSION + 1}")
    connection.close()
    with pytest.raises(NewerLogError, match=rf"format {schema.VERSION + 1}.*up to {schema.VERSION}; upgrade"):
        verify(path)


def test_a_path_with_signs_that_mean_something_in_a_uri(tmp_path: Path) -> None:
    """Names are taken as they are."""
    assert verify(make(tmp_path / "a?b#c%d.db")) == schema.VERSION


@given(count=st.sampled_from([0, 1, SOME, MANY - 1, MANY, 3 * MANY + SOME + 5]))
def test_any_number_of_rows_is_appended_whole(tmp_path_factory: pytest.TempPathFactory, count: int) -> None:
    """Rows beyond a whole statement are not forgotten, and none is written twice."""
    path = tmp_path_factory.mktemp("log") / "events.db"
    store = Store.create(path, Session())
    store.append([schema.row(Event(EventType.FIRST_CHUNK, at_ns, str(at_ns))) for at_ns in range(count)])
    store.close()
    connection = sqlite3.connect(path)
    result = connection.execute("SELECT at_ns, sample_uuid FROM events ORDER BY seq").fetchall()
    connection.close()
    assert result == [(at_ns, str(at_ns)) for at_ns in range(count)]


def test_a_failed_append_leaves_nothing_behind(tmp_path: Path) -> None:
    """A transaction is whole or not at all."""
    path = tmp_path / "events.db"
    store = Store.create(path, Session())
    good = schema.row(Event(EventType.FIRST_CHUNK, 1, "a"))
    with pytest.raises(sqlite3.Error):
        store.append([good, (None, None, None, None, None, None)])  # type: ignore[list-item]  # a bad row
    store.append([good])
    store.close()
    connection = sqlite3.connect(path)
    assert connection.execute("SELECT count(*) FROM events").fetchone() == (1,)
    connection.close()


def test_a_finished_log_is_one_file(tmp_path: Path) -> None:
    """Nothing is next to it that could be forgotten when it is copied, also after it was read."""
    path = make(tmp_path / "events.db")
    verify(path)
    assert [file.name for file in tmp_path.iterdir()] == ["events.db"]


def test_big_members_stand_apart() -> None:
    """Texts and arrivals have separate columns; the event's mapping is left as it is."""
    data = {"status": 200, "texts": {"output": "hé"}, "chunk_gaps_us": b"\x01\x00\x00\x00"}
    event = Event(EventType.COMPLETE, 5, "a", data)
    assert schema.row(event) == (23, 5, "a", '{"status":200}', '{"output":"hé"}', b"\x01\x00\x00\x00")
    assert set(data) == {"status", "texts", "chunk_gaps_us"}
