"""Where a log can be made, and where not: an error that names the place, and nothing is left behind."""

from __future__ import annotations

import os
import sqlite3
import sys
from pathlib import Path
from typing import Any

import pytest

from recorder.continued_log import reopen
from recorder.errors import LogExistsError, LogNotMadeError, NotALogError
from recorder.event import Event, EventType
from recorder.lock import Hold, is_held
from recorder.session import Session
from recorder.store import Store, verify
from recorder.writer import EventRecorder

ODD = ["a b", "a\nb", "-rf", "a'b\"c", "a%20b?c#d", "日本", os.fsdecode(b"\xff\xfe"), "~", "$HOME", "n" * 200]
"""Names that a shell, a URI or a terminal could take for something else."""


@pytest.mark.parametrize("name", ODD, ids=ascii)
def test_a_folder_of_an_odd_name(tmp_path: Path, name: str) -> None:
    """Names are taken as they are."""
    log = tmp_path / name / "events.db"
    with EventRecorder(path=log) as recorder:
        recorder.put(Event(EventType.TEST_STARTED, 1))
    assert [path.name for path in tmp_path.iterdir()] == [name]
    assert [path.name for path in log.parent.iterdir()] == ["events.db"]
    verify(log)


def not_writable(tmp_path: Path) -> Path:
    """A folder that its owner must not write to either."""
    if os.geteuid() == 0:
        pytest.skip(
            "root may write into any folder, whatever its mode; that a place cannot be written to is tested "
            "with /proc in this run"
        )
    folder = tmp_path / "closed"
    folder.mkdir(mode=0o555)
    return folder


def not_a_disk(_: Path) -> Path:
    """In the kernel's own file system no file can be made."""
    if sys.platform != "linux":
        pytest.skip("only Linux has /proc, where the kernel lets no process make a file")
    return Path("/proc/self")


def too_long(tmp_path: Path) -> Path:
    """A name of more characters than a name can have."""
    return tmp_path / ("n" * 300)


def too_deep(tmp_path: Path) -> Path:
    """A path of more characters than a path can have."""
    return tmp_path.joinpath(*["n" * 200] * 30)


def below_a_file(tmp_path: Path) -> Path:
    """Where a file is there can be no folder."""
    (tmp_path / "file").write_text("")
    return tmp_path / "file"


def in_a_circle(tmp_path: Path) -> Path:
    """A link to itself leads nowhere."""
    (tmp_path / "link").symlink_to(tmp_path / "link")
    return tmp_path / "link"


@pytest.mark.parametrize("place", [not_writable, not_a_disk, too_long, too_deep, below_a_file, in_a_circle])
def test_a_place_where_no_log_can_be(tmp_path: Path, place: object) -> None:
    """The error says so, and another folder will do."""
    assert callable(place)
    folder = place(tmp_path)
    with pytest.raises(LogNotMadeError, match=r"no log can be made here .*; choose another folder"):
        Store.create(folder / "run" / "events.db", Session())


class NoWriteAhead(sqlite3.Connection):
    """A connection that must not write ahead, as on a disk that gets full at that moment."""

    made: list[NoWriteAhead]

    def __init__(self, *arguments: object, **options: object) -> None:
        super().__init__(*arguments, **options)  # type: ignore[arg-type]  # what it was given
        self.set_authorizer(
            lambda _, name, *__: sqlite3.SQLITE_DENY if name == "journal_mode" else sqlite3.SQLITE_OK
        )
        self.made.append(self)


def test_a_log_that_cannot_be_written_ahead_is_taken_away_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever fails in the making: no half of a log stays, no connection, and the folder is free."""
    NoWriteAhead.made = []
    connect = sqlite3.connect
    monkeypatch.setattr(
        sqlite3, "connect", lambda *argument, **options: connect(*argument, **options, factory=NoWriteAhead)
    )
    with pytest.raises(LogNotMadeError, match="no log can be made here"):
        Store.create(tmp_path / "events.db", Session())
    assert list(tmp_path.iterdir()) == []
    (connection,) = NoWriteAhead.made
    with pytest.raises(sqlite3.ProgrammingError, match="closed database"):
        connection.execute("SELECT 1")
    assert not is_held(tmp_path)


def test_the_folder_is_free_when_a_log_cannot_be_closed(tmp_path: Path) -> None:
    """The error is reported, and the next one can begin."""

    class Stubborn(sqlite3.Connection):
        def close(self) -> None:
            super().close()
            raise sqlite3.OperationalError("disk I/O error")

    connection = sqlite3.connect(tmp_path / "events.db", factory=Stubborn)
    with pytest.raises(sqlite3.OperationalError, match="I/O"):
        Store(tmp_path / "events.db", connection, Hold(tmp_path)).close()
    assert not is_held(tmp_path)


@pytest.mark.parametrize("suffix", ["-wal", "-shm", "-journal"])
@pytest.mark.parametrize("plant", [Path.symlink_to, Path.hardlink_to], ids=["link", "hard link"])
def test_nothing_is_written_through_a_planted_file(tmp_path: Path, suffix: str, plant: Any) -> None:
    """Before there is a log, nothing can belong to it."""
    victim, log = tmp_path / "victim", tmp_path / "run" / "events.db"
    victim.write_bytes(b"precious")
    log.parent.mkdir()
    plant(log.with_name(f"events.db{suffix}"), victim)
    with pytest.raises(LogExistsError, match=f"events.db{suffix} exists already.*remove it"):
        Store.create(log, Session())
    assert victim.read_bytes() == b"precious"
    assert [path.name for path in log.parent.iterdir()] == [f"events.db{suffix}"]
    assert not is_held(log.parent)


@pytest.mark.parametrize("name", ["events.db", "events.db-wal"])
def test_a_log_with_a_second_name_is_not_continued(tmp_path: Path, name: str) -> None:
    """It would be written to under both."""
    log, other = tmp_path / "run" / "events.db", tmp_path / "other"
    Store.create(log, Session()).close()
    log.with_name(name).touch()
    other.hardlink_to(log.with_name(name))
    before = other.read_bytes()
    with pytest.raises(NotALogError, match=f"{name}: the file has another name elsewhere"):
        reopen(log, Session())
    assert other.read_bytes() == before
