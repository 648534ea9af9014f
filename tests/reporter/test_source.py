"""Where a log is read from."""

from __future__ import annotations

import os
import shutil
from typing import TYPE_CHECKING

import pytest

from recorder.errors import NotALogError
from recorder.session import Session
from recorder.store import Store
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
