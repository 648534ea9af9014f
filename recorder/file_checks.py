"""The check that a log consists of plain files with plain tables, without triggers or views.

A log may come from anywhere. SQLite would run what its author has put into one: a view in the place of a
table each time it is read, a trigger each time a row is written; and it would open whatever is next to the
file under its own names.
"""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Final

from recorder import schema
from recorder.errors import LogCutError, LogExistsError, LogGoneError, NotALogError
from recorder.journal import WAL_SUFFIX, has_hole

if TYPE_CHECKING:
    import sqlite3
    from pathlib import Path

_TABLES: Final = tuple(
    re.findall(r"CREATE TABLE (?:IF NOT EXISTS )?(\w+)", schema.DDL + schema.HEARTBEATS_DDL)
)
_LOG_NAME: Final = "events.db"
_MOST_NAMED: Final = 5
_COMPANION_SUFFIXES: Final = ("-wal", "-shm", "-journal")


def require_plain_files(path: Path) -> None:
    """Raise `NotALogError` unless a log, which may be a link, and the files next to the log are regular."""
    if not path.exists() and path.parent.is_dir() and path.name == _LOG_NAME:
        raise NotALogError(no_run_in(path.parent))
    if not path.is_file():
        if path.exists():
            raise NotALogError(f"{path}: not a regular file, which a log is")
        raise NotALogError(no_run_at(path))
    for companion in _companions(path.resolve()):
        if companion.is_symlink() or (companion.exists() and not companion.is_file()):
            raise NotALogError(f"{companion}: not a regular file, so it is not one of SQLite's; remove it")


def no_run_at(path: Path) -> str:
    """The message for a missing run, shared by all commands."""
    if ":/" in str(path):  # `pathlib` keeps one of two slashes
        return f"{path}: no archive is there; addresses of object stores begin with s3:// or gs://"
    kind = "file" if path.suffix else "run folder"
    return f"{path}: no {kind} has this name; `loadgen list runs` lists the runs"


def no_run_in(folder: Path) -> str:
    """The message for a folder without a log, with the runs below."""
    return f"{folder}: not a run folder, it has no {_LOG_NAME}{_runs_below(folder)}"


def require_own_files(path: Path) -> None:
    """Check that each file of a log has one name, so that writes affect no other file."""
    for file in (path, *_companions(path.resolve())):
        if file.exists() and file.stat().st_nlink > 1:
            raise NotALogError(
                f"{file}: the file has another name elsewhere (a hard link), which would be written to as "
                f"well; put a copy in its place: cp {file.name} copy && mv copy {file.name}"
            )


def require_no_companions(path: Path) -> None:
    """Raise `LogExistsError` if SQLite would read left-over files as a part of a new log."""
    for file in _companions(path):
        if os.path.lexists(file):
            kind = "a link" if file.is_symlink() else "a file"
            raise LogExistsError(
                f"{file} exists already, {kind} without a log that it belongs to, and SQLite would write to "
                "it; remove it, or choose another folder"
            )


def _companions(path: Path) -> list[Path]:
    """The paths of the files that SQLite keeps next to a log."""
    return [path.with_name(path.name + suffix) for suffix in _COMPANION_SUFFIXES]


def _runs_below(folder: Path) -> str:
    """The folders of runs in a folder and in its subfolders, the latest first; empty without any."""
    logs = [*folder.glob(f"*/{_LOG_NAME}"), *folder.glob(f"*/*/{_LOG_NAME}")]
    runs = [str(log.parent) for log in sorted(logs, key=lambda log: log.stat().st_mtime, reverse=True)]
    if not runs:
        return "; name the folder that `loadgen perf` printed"
    more = f" and {len(runs) - _MOST_NAMED} more" if len(runs) > _MOST_NAMED else ""
    return f"; runs below it: {', '.join(runs[:_MOST_NAMED])}{more}"


def require_plain_tables(connection: sqlite3.Connection, path: Path) -> None:
    """Raise `NotALogError` unless the log's tables are plain, without triggers or generated columns."""
    for kind, name, page in connection.execute("SELECT type, name, rootpage FROM sqlite_master"):
        if kind == "trigger":
            raise NotALogError(f"{path}: there is a trigger in it ({name!r}), and a log has none")
        if str(name).lower() in _TABLES and kind in ("table", "view") and not (kind == "table" and page):
            raise NotALogError(f"{path}: {name!r} is not a plain table, as it is in a log")
    for table in _TABLES:
        for _, column, *_, hidden in connection.execute(f"PRAGMA table_xinfo({table})"):
            if hidden:
                raise NotALogError(f"{path}: the column {column!r} of {table!r} is computed")


class Presence:
    """The files of a log, which must stay in place and must not shrink while the log is written."""

    def __init__(self, log: Path) -> None:
        self._wal = log.with_name(log.name + WAL_SUFFIX)
        self._seen: dict[Path, os.stat_result | None] = {log: None, self._wal: None}

    def require(self) -> None:
        """Raise `LogGoneError` or `LogCutError` unless each file seen before is in place, and no shorter.

        To be called before a batch, which makes a file that was cut short long again, and after it.
        """
        for path, before in self._seen.items():
            try:
                current = path.stat()
            except FileNotFoundError:
                if before is None:
                    continue
                raise LogGoneError(f"{path.name} was moved or deleted") from None
            if before is not None:
                _require_same(path, before, current)
            self._seen[path] = current

    def require_whole(self) -> None:
        """Raise as `require`, also for a truncation during the write of a batch."""
        self.require()
        if self._seen[self._wal] is not None and has_hole(self._wal):
            raise LogCutError(f"{self._wal.name} was cut short while it was written to")


def _require_same(path: Path, before: os.stat_result, current: os.stat_result) -> None:
    if (before.st_dev, before.st_ino) != (current.st_dev, current.st_ino):
        raise LogGoneError(f"{path.name} was replaced")
    if current.st_size < before.st_size:
        raise LogCutError(f"{path.name} was cut short, from {before.st_size:,} to {current.st_size:,} bytes")
