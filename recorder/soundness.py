"""Whether a log is nothing but a log: plain files, and in them plain tables that do nothing by themselves.

A log may come from anywhere. SQLite would run what somebody has put into one: a view in the place of a table
each time it is read, a trigger each time a row is written; and it would open whatever lies beside the file
under the names of its own.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from recorder import schema
from recorder.errors import NotALogError

if TYPE_CHECKING:
    import sqlite3
    from pathlib import Path

_TABLES: Final = frozenset(re.findall(r"CREATE TABLE (\w+)", schema.DDL))
_BESIDE: Final = ("-wal", "-shm", "-journal")


def require_plain_files(path: Path) -> None:
    """Make sure that a log and what SQLite keeps beside it are regular files. The log itself may be a link.

    Raises:
        NotALogError: One of them is a pipe, a device, a folder, or a link that leads away.
    """
    if not path.is_file():
        missing = "there is no such file" if not path.exists() else "not a regular file, which a log is"
        raise NotALogError(f"{path}: {missing}")
    real = path.resolve()
    for suffix in _BESIDE:
        beside = real.with_name(real.name + suffix)
        if beside.is_symlink() or (beside.exists() and not beside.is_file()):
            raise NotALogError(f"{beside}: not a regular file, so it is none of SQLite's; remove it")


def require_plain_tables(connection: sqlite3.Connection, path: Path) -> None:
    """Make sure that what has the names of a log's tables are tables, and that nothing happens by itself.

    Raises:
        NotALogError: There is a view or a virtual table instead, a generated column, or a trigger.
        sqlite3.Error: The file is damaged.
    """
    for kind, name, page in connection.execute("SELECT type, name, rootpage FROM sqlite_master"):
        if kind == "trigger":
            raise NotALogError(f"{path}: there is a trigger in it ({name!r}), and a log has none")
        if str(name).lower() in _TABLES and kind in ("table", "view") and not (kind == "table" and page):
            raise NotALogError(f"{path}: {name!r} is no plain table, as it is in a log")
    for table in _TABLES:
        for _, column, *_, hidden in connection.execute(f"PRAGMA table_xinfo({table})"):
            if hidden:
                raise NotALogError(f"{path}: the column {column!r} of {table!r} is computed")
