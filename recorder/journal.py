"""The journal that a kill has left beside a log: what was half done is rolled back before anybody reads.

A log is written ahead, but where somebody begins to go on with a finished one, or folds it into one file at
the end, SQLite keeps for a moment what the file was before. Only who may write can roll back with it.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING, Final

from recorder.errors import NotALogError

if TYPE_CHECKING:
    from pathlib import Path

SUFFIX: Final = "-journal"

_ENDS_A_NAME: Final = bytes.fromhex("d9d505f920a163d7")
"""How a journal ends that names a file which SQLite would look into, and remove."""

_PATIENCE_S: Final = 5.0


def roll_back(log: Path) -> None:
    """Let SQLite undo what a process that was killed had half done to a log; mostly there is nothing.

    While that process lives nothing is undone: it has the file locked.

    Raises:
        NotALogError: The journal is none of this program's.
        sqlite3.Error: It cannot be rolled back.
    """
    journal = log.with_name(log.name + SUFFIX)
    try:
        left = journal.read_bytes()
    except FileNotFoundError:
        return
    if left.endswith(_ENDS_A_NAME):
        raise NotALogError(f"{journal}: names another file, which no journal of a log does; remove it")
    if left:
        with closing(sqlite3.connect(log, timeout=_PATIENCE_S)) as connection:
            connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
