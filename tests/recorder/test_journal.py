"""A log that a caller was killed over while it was no write-ahead one: it is read as it was before."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from recorder import schema
from recorder.continued_log import reopen
from recorder.errors import NotALogError
from recorder.event import Event, EventType
from recorder.journal import is_hot, roll_back
from recorder.session import Session
from recorder.store import PAGE_BYTES, Store, verify
from reporter.log.source import readable

if TYPE_CHECKING:
    from pathlib import Path

DIES_IN_A_TRANSACTION = """
import os, sqlite3, sys
connection = sqlite3.connect(sys.argv[1], isolation_level=None)
connection.execute("PRAGMA cache_size = 1")
connection.execute("BEGIN IMMEDIATE")
connection.execute("UPDATE events SET at_ns = 7")
connection.execute("UPDATE sittings SET first_seq = 7")
os.kill(os.getpid(), 9)
"""
"""With a cache of a page, what is changed is in the file before the transaction is over."""


@pytest.fixture
def half_done(tmp_path: Path) -> Path:
    """A log whose writer was killed in the middle of a change, with the journal that it left."""
    log = tmp_path / "events.db"
    store = Store.create(log, Session())
    store.append([schema.row(Event(EventType.TELEMETRY, 1, None, {"x": "y" * 2000})) for _ in range(300)])
    store.close()
    died = subprocess.run([sys.executable, "-c", DIES_IN_A_TRANSACTION, str(log)], check=False)
    assert died.returncode == -signal.SIGKILL
    assert (tmp_path / "events.db-journal").stat().st_size > 0
    return log


def moments(log: Path) -> set[int]:
    """The times of its events, for who may only read."""
    with closing(sqlite3.connect(f"file:{log}?mode=ro", uri=True)) as connection:
        return {at_ns for (at_ns,) in connection.execute("SELECT at_ns FROM events")}


def test_a_reader_undoes_it_in_a_copy(half_done: Path) -> None:
    """The log and its journal stay as they are, byte by byte."""
    files = {path: path.read_bytes() for path in half_done.parent.iterdir()}
    with pytest.raises(sqlite3.OperationalError, match="readonly"):
        moments(half_done)
    assert verify(half_done) == schema.VERSION
    with readable(half_done) as uri, closing(sqlite3.connect(uri, uri=True)) as connection:
        assert connection.execute("SELECT DISTINCT at_ns FROM events").fetchall() == [(1,)]
    assert {path: path.read_bytes() for path in half_done.parent.iterdir()} == files


def test_a_writer_undoes_it(half_done: Path) -> None:
    """In place, and once."""
    roll_back(half_done)
    assert moments(half_done) == {1}
    assert [path.name for path in half_done.parent.iterdir()] == ["events.db"]
    roll_back(half_done)
    assert moments(half_done) == {1}


@pytest.mark.parametrize(
    ("place", "value", "message"),
    [
        (16, 0, "pages of the log 0"),
        (16, 0x7FFFFFFE, "pages of the log 2,147,483,646"),
        (20, 513, "does not fit"),
        (24, 512, "does not fit"),
        (0, 0x01020304, "does not fit"),
    ],
)
def test_a_journal_of_another_database_is_refused(
    half_done: Path, place: int, value: int, message: str
) -> None:
    """By readers and writers; SQLite would empty the log, or make it terabytes long."""
    journal = half_done.with_name("events.db-journal")
    content = bytearray(journal.read_bytes())
    content[place : place + 4] = value.to_bytes(4, "big")
    journal.write_bytes(content)
    before = half_done.read_bytes()
    for look in (verify, roll_back, is_hot):
        with pytest.raises(NotALogError, match=message):
            look(half_done)
    with pytest.raises(NotALogError, match=message), readable(half_done):
        pass
    assert half_done.read_bytes() == before


def test_a_long_journal_is_not_read(half_done: Path) -> None:
    """A sparse one takes no room on the disk, and would take as much memory as it is long."""
    journal = half_done.with_name("events.db-journal")
    os.truncate(journal, 6 * 2**30)
    with pytest.raises(NotALogError, match="is longer than the log"):
        verify(half_done)


def test_a_writer_cuts_off_no_log(half_done: Path) -> None:
    """A header that names few pages is a change that no recorder makes; a reader does it in a copy."""
    journal = half_done.with_name("events.db-journal")
    content = bytearray(journal.read_bytes())
    content[16:20] = (1).to_bytes(4, "big")
    journal.write_bytes(content)
    with half_done.open("ab") as log:
        log.write(bytes(PAGE_BYTES * 300))
    before = half_done.read_bytes()
    with pytest.raises(NotALogError, match="cut off most of the log"):
        roll_back(half_done)
    assert half_done.read_bytes() == before


def test_its_log_can_be_continued(half_done: Path) -> None:
    """As if the one that was killed had never been there."""
    store = reopen(half_done, Session(), after_seq=300)
    store.append([schema.row(Event(EventType.TELEMETRY, 2))])
    store.close()
    assert moments(half_done) == {1, 2}


def test_a_journal_that_names_another_file_is_refused(half_done: Path) -> None:
    """SQLite would look into that file, and remove it: no log has such a journal."""
    journal = half_done.with_name("events.db-journal")
    with journal.open("ab") as file:
        file.write(bytes.fromhex("d9d505f920a163d7"))
    with pytest.raises(NotALogError, match="names another file"):
        verify(half_done)


def test_the_journal_of_a_living_writer_is_not_rolled_back(tmp_path: Path) -> None:
    """While a writer lives its journal is its own."""
    log = tmp_path / "events.db"
    Store.create(log, Session()).close()
    with closing(sqlite3.connect(log, isolation_level=None)) as writer:
        writer.execute("BEGIN IMMEDIATE")
        writer.execute("UPDATE sittings SET boot_id = 'new'")
        roll_back(log)
        writer.execute("COMMIT")
        assert writer.execute("SELECT boot_id FROM sittings").fetchall() == [("new",)]
