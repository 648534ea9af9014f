"""The SQLite file: making a log, opening one, and appending rows to it.

WAL with `synchronous=NORMAL`: a commit survives the death of this process at any moment (also by `kill -9`),
costs no fsync, and the loss of power can take the last commits but never the file.
"""

from __future__ import annotations

import sqlite3
import time
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final
from uuid import uuid4

from recorder import schema
from recorder.errors import LogExistsError, LogNotMadeError, NewerLogError, NotALogError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

LOG_NAME: Final = "events.db"
"""What the log of a run is called in the run's folder."""

_LOCK_TIMEOUT_S: Final = 60.0
"""How long a write waits for somebody else's lock: events wait in the queue meanwhile."""

ROWS_A_STATEMENT: Final = 128
"""sqlite3 gives up the GIL once a statement, not once a row: inserting many rows by one statement keeps the
writer from queueing for the GIL at every row while the load generator is busy."""

_INSERT: Final = f"INSERT INTO events ({', '.join(schema.COLUMNS)}) VALUES "  # noqa: S608 (constants)
_ONE: Final = f"({', '.join('?' * len(schema.COLUMNS))})"
_INSERT_ONE: Final = _INSERT + _ONE
_INSERT_MANY: Final = _INSERT + ", ".join([_ONE] * ROWS_A_STATEMENT)


@dataclass(frozen=True, slots=True)
class Session:
    """The facts that a log opens with.

    Attributes:
        session_id: Names the session.
        started_at_ns: CLOCK_MONOTONIC at the start; with `started_wall_ns` it anchors every other time.
        started_wall_ns: The same moment in ns since the epoch.
        settings: The resolved settings, without secrets: all that is needed to repeat the run.
        environment: Versions, host, timestamp source.
    """

    session_id: str = field(default_factory=lambda: uuid4().hex)
    started_at_ns: int = field(default_factory=time.monotonic_ns)
    started_wall_ns: int = field(default_factory=time.time_ns)
    settings: Mapping[str, Any] = field(default_factory=dict)
    environment: Mapping[str, Any] = field(default_factory=dict)


class Store:
    """The one write connection to a log. Made and used by one thread."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    @classmethod
    def create(cls, path: Path, session: Session) -> Store:
        """Make a new log.

        Raises:
            LogExistsError: There is a file of that name already.
            LogNotMadeError: The place cannot be written to.
        """
        if path.exists():
            raise LogExistsError(f"{path} exists already: a log is never overwritten; choose another folder")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            return cls._make(path, session)
        except (OSError, sqlite3.Error) as error:
            raise LogNotMadeError(
                f"{path}: no log can be made here ({error}); choose another folder"
            ) from error

    @classmethod
    def _make(cls, path: Path, session: Session) -> Store:
        connection = sqlite3.connect(path, timeout=_LOCK_TIMEOUT_S, isolation_level=None)
        # One transaction for all of it: a file is a whole log, if an empty one, or none at all.
        connection.execute("BEGIN")
        connection.execute(f"PRAGMA application_id = {schema.APPLICATION_ID}")
        connection.execute(f"PRAGMA user_version = {schema.VERSION}")
        for statement in schema.DDL.split(";"):
            connection.execute(statement)
        connection.executemany("INSERT INTO event_types VALUES (?, ?)", schema.type_rows)
        connection.execute(
            "INSERT INTO session VALUES (?, ?, ?, ?, ?)",
            (
                session.session_id,
                session.started_at_ns,
                session.started_wall_ns,
                schema.encode(session.settings),
                schema.encode(session.environment),
            ),
        )
        connection.execute("COMMIT")
        # Only now: what a log is stands in the file itself, should it ever lose what lies beside it.
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = NORMAL")
        return cls(connection)

    def append(self, rows: Sequence[schema.Row]) -> None:
        """Append rows in one transaction: on return they are committed.

        Raises:
            sqlite3.Error: The disk is full or the file is gone; none of the rows is in the log.
        """
        connection = self._connection
        connection.execute("BEGIN")
        try:
            whole = len(rows) - len(rows) % ROWS_A_STATEMENT
            for start in range(0, whole, ROWS_A_STATEMENT):
                values: list[Any] = []
                for row in rows[start : start + ROWS_A_STATEMENT]:
                    values += row
                connection.execute(_INSERT_MANY, values)
            connection.executemany(_INSERT_ONE, rows[whole:])
            connection.execute("COMMIT")
        except sqlite3.Error:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise

    def close(self) -> None:
        """Fold the write-ahead log into the file and close it: a finished log is one file.

        While somebody reads the log that is not possible; then it stays as it is, and is as good.
        """
        with suppress(sqlite3.Error):
            self._connection.execute("PRAGMA journal_mode = DELETE")
        self._connection.close()


def log_path(run: Path) -> Path:
    """The log of a run that is named by its folder or by the log itself."""
    return run / LOG_NAME if run.is_dir() else run


def verify(path: Path) -> int:
    """Make sure that a file is a log that this version reads.

    Returns:
        The schema version of the log.

    Raises:
        NotALogError: It is missing, is not SQLite, or was not written by this program.
        NewerLogError: A later version of this program wrote it.
    """
    if not path.is_file():
        raise NotALogError(f"{path}: there is no such file")
    try:
        connection = sqlite3.connect(f"file:{_quoted(path)}?mode=ro", uri=True)
        try:
            (application_id,) = connection.execute("PRAGMA application_id").fetchone()
            (version,) = connection.execute("PRAGMA user_version").fetchone()
        finally:
            connection.close()
    except sqlite3.Error as error:
        raise NotALogError(f"{path}: not a SQLite file that can be read ({error})") from error
    if application_id != schema.APPLICATION_ID:
        raise NotALogError(f"{path}: a SQLite file, but not a log of this program")
    if version > schema.VERSION:
        raise NewerLogError(
            f"{path}: written with log format {version}, this version reads up to {schema.VERSION}; "
            "upgrade llm-loadgen",
        )
    return int(version)


def _quoted(path: Path) -> str:
    """Escape what has a meaning in a SQLite URI."""
    return str(path).replace("%", "%25").replace("?", "%3f").replace("#", "%23")
