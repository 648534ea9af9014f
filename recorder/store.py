"""The SQLite file: making a log, opening one, and appending rows to it.

WAL with `synchronous=NORMAL`: a commit survives the death of this process at any moment (also by `kill -9`),
costs no fsync, and the loss of power can take the last commits but never the file.
"""

from __future__ import annotations

import os
import sqlite3
import time
from typing import TYPE_CHECKING, Any, Final

from recorder import schema
from recorder.errors import LogExistsError, LogNotMadeError, NewerLogError, NotALogError, OldLogError
from recorder.lock import Hold
from recorder.session import Before, shift
from recorder.soundness import require_plain_files, require_plain_tables

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from recorder.session import Session

LOG_NAME: Final = "events.db"
"""What the log of a run is called in the run's folder."""

_LOCK_TIMEOUT_S: Final = 60.0
"""How long a write waits for somebody else's lock: events wait in the queue meanwhile."""

_READERS_S: Final = 2.0
"""How long closing waits for readers, so that it can leave one file behind."""

_TRY_AGAIN_S: Final = 0.02

ROWS_A_STATEMENT: Final = 128
"""sqlite3 gives up the GIL once a statement, not once a row: inserting many rows by one statement keeps the
writer from queueing for the GIL at every row while the load generator is busy."""

_INSERT: Final = f"INSERT INTO events ({', '.join(schema.COLUMNS)}) VALUES "  # noqa: S608 (constants)
_ONE: Final = f"({', '.join('?' * len(schema.COLUMNS))})"
_INSERT_ONE: Final = _INSERT + _ONE
_INSERT_MANY: Final = _INSERT + ", ".join([_ONE] * ROWS_A_STATEMENT)

_SIT_DOWN: Final = """
    INSERT INTO sittings (first_seq, started_at_ns, started_wall_ns, shift_ns, boot_id, environment)
    VALUES (?, ?, ?, ?, ?, ?)"""


class Store:
    """The one write connection to a log. Made and used by one thread."""

    def __init__(self, connection: sqlite3.Connection, hold: Hold) -> None:
        self._connection = connection
        self._hold = hold

    @classmethod
    def create(cls, path: Path, session: Session) -> Store:
        """Make a new log.

        Raises:
            LogExistsError: There is a file of that name already.
            LogNotMadeError: The place cannot be written to.
            BeingWrittenError: Somebody else is about to make one.
        """
        if os.path.lexists(path):
            raise LogExistsError(f"{path} exists already: a log is never overwritten; choose another folder")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            return cls._held(path, lambda: _made(path, session))
        except (OSError, sqlite3.Error) as error:
            raise LogNotMadeError(
                f"{path}: no log can be made here ({error}); choose another folder"
            ) from error

    @classmethod
    def reopen(cls, path: Path, sitting: Session) -> Store:
        """Go on with a log that nobody writes any more: its next sitting begins.

        Args:
            path: The log.
            sitting: The clocks and the environment of the new sitting; the rest is that of the first.

        Raises:
            NotALogError, NewerLogError: As for `verify`.
            OldLogError: An earlier version wrote it.
            LogNotMadeError: It cannot be written to.
            BeingWrittenError: Another process writes it.
        """
        try:
            return cls._held(path, lambda: _reopened(path, sitting))
        except (OSError, sqlite3.Error) as error:
            raise LogNotMadeError(f"{path}: the log cannot be gone on with ({error})") from error

    @classmethod
    def _held(cls, path: Path, connect: Callable[[], sqlite3.Connection]) -> Store:
        """Hold the folder before anything is done to the log in it."""
        hold = Hold(path.parent)
        try:
            connection = connect()
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = NORMAL")
        except BaseException:
            hold.release()
            raise
        return cls(connection, hold)

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

        While somebody reads the log that is not possible. Readers take moments; one that takes longer is not
        waited for: then the log stays as it is, and is as good.
        """
        give_up = time.monotonic() + _READERS_S
        # It is tried again here: SQLite waits in some cases only, and then leaves two empty files behind.
        self._connection.execute("PRAGMA busy_timeout = 0")
        while not self._fold() and time.monotonic() < give_up:
            time.sleep(_TRY_AGAIN_S)
        self._connection.close()
        self.let_go()

    def let_go(self) -> None:
        """Hold the run no longer, also when the log could not be closed."""
        self._hold.release()

    def _fold(self) -> bool:
        """Try it once; tell whether there is nothing left to try."""
        try:
            self._connection.execute("PRAGMA journal_mode = DELETE")
        except sqlite3.OperationalError as error:
            return error.sqlite_errorcode != sqlite3.SQLITE_BUSY
        except sqlite3.Error:
            return True
        return True


def _made(path: Path, session: Session) -> sqlite3.Connection:
    # Who has made the file may take it away again, where the rest of the log has no room.
    path.touch(exist_ok=False)
    connection = _connection(path)
    try:
        _fill(connection, session)
    except BaseException:
        connection.close()
        path.unlink(missing_ok=True)
        raise
    return connection


def _fill(connection: sqlite3.Connection, session: Session) -> None:
    # One transaction for all of it: a file is a whole log, if an empty one, or none at all. That it is
    # written ahead is said after: what a log is stands in the file itself, should it lose what lies beside.
    connection.execute("BEGIN")
    connection.execute(f"PRAGMA application_id = {schema.APPLICATION_ID}")
    connection.execute(f"PRAGMA user_version = {schema.VERSION}")
    for statement in schema.DDL.split(";"):
        connection.execute(statement)
    connection.executemany("INSERT INTO event_types VALUES (?, ?)", schema.type_rows)
    settings, environment = schema.encode(session.settings), schema.encode(session.environment)
    anchors = (session.started_at_ns, session.started_wall_ns)
    connection.execute(
        "INSERT INTO session VALUES (?, ?, ?, ?, ?)",
        (session.session_id, *anchors, settings, environment),
    )
    connection.execute(_SIT_DOWN, (1, *anchors, 0, session.boot_id, environment))
    connection.execute("COMMIT")


def _reopened(path: Path, sitting: Session) -> sqlite3.Connection:
    version = verify(path)
    if version < schema.VERSION:
        raise OldLogError(
            f"{path}: written with log format {version}; it can be read as ever, but only a log of format "
            f"{schema.VERSION} can be gone on with: run it anew",
        )
    connection = _connection(path)
    connection.execute("BEGIN IMMEDIATE")
    # This version may know events that the one which made the log did not.
    connection.executemany("INSERT OR IGNORE INTO event_types VALUES (?, ?)", schema.type_rows)
    (first_seq,) = connection.execute("SELECT coalesce(max(seq), 0) + 1 FROM events").fetchone()
    anchors = (sitting.started_at_ns, sitting.started_wall_ns)
    added = (shift(_before(connection), sitting), sitting.boot_id, schema.encode(sitting.environment))
    connection.execute(_SIT_DOWN, (first_seq, *anchors, *added))
    connection.execute("COMMIT")
    return connection


def _before(connection: sqlite3.Connection) -> Before:
    return Before(
        *connection.execute(
            "SELECT started_at_ns, started_wall_ns, boot_id, shift_ns, max(started_at_ns, coalesce("
            "(SELECT max(at_ns) FROM events WHERE seq >= first_seq), started_at_ns)) "
            "FROM sittings ORDER BY sitting DESC LIMIT 1",
        ).fetchone(),
    )


def _connection(path: Path) -> sqlite3.Connection:
    return sqlite3.connect(path, timeout=_LOCK_TIMEOUT_S, isolation_level=None)


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
    require_plain_files(path)
    try:
        connection = sqlite3.connect(f"file:{_quoted(path)}?mode=ro", uri=True)
        try:
            (application_id,) = connection.execute("PRAGMA application_id").fetchone()
            (version,) = connection.execute("PRAGMA user_version").fetchone()
            if application_id == schema.APPLICATION_ID:
                require_plain_tables(connection, path)
        finally:
            connection.close()
    except (sqlite3.Error, UnicodeDecodeError) as error:
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
