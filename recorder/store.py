"""The SQLite file: create a log, open a log, append rows.

WAL with `synchronous=NORMAL`: a commit survives the death of this process at any moment (also by `kill -9`),
costs no fsync, and the loss of power can take the last commits, but not the file once it has the first ones.
"""

from __future__ import annotations

import os
import sqlite3
import time
from contextlib import ExitStack, suppress
from itertools import chain
from typing import TYPE_CHECKING, Final

from recorder import schema
from recorder.errors import (
    LogExistsError,
    LogNotMadeError,
    NewerLogError,
    NotALogError,
)
from recorder.file_checks import (
    require_no_companions,
    require_plain_files,
    require_plain_tables,
)
from recorder.journal import drop_outdated, is_hot
from recorder.lock import Hold

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from recorder.schema import Heartbeat
    from recorder.session import Session

LOG_NAME: Final = "events.db"
"""What the log of a run is called in the run's folder."""

_LOCK_TIMEOUT_S: Final = 60.0
"""How long a write waits for another process's lock: events wait in the queue meanwhile."""

_READERS_S: Final = 2.0
"""How long closing waits for readers, so that it can leave one file behind."""

_TRY_AGAIN_S: Final = 0.02

PAGE_BYTES: Final = 16_384
"""Four times SQLite's default: a long log is a tenth smaller, and takes a quarter less time to read. A log of
few events takes 130 kB."""

_CHECKPOINT_PAGES: Final = 250
"""The write-ahead log is folded in at 4 MB."""

# At each use sqlite3 looks for adapters, longer where none is registered. Both give back what they take.
sqlite3.register_adapter(type(None), {None: None}.get)
sqlite3.register_adapter(bytes, bytes)

_INSERT: Final = f"INSERT INTO events ({', '.join(schema.COLUMNS)}) VALUES "  # noqa: S608 (constants)
_ROW: Final = f"({', '.join('?' * len(schema.COLUMNS))})"
ROWS_A_STATEMENT: Final = (128, 16, 1)
"""sqlite3 gives up the GIL once a statement, not once a row: inserting many rows by one statement keeps the
writer from queueing for the GIL at every row while the load generator is busy."""

_INSERTS: Final = [(rows, _INSERT + ", ".join([_ROW] * rows)) for rows in ROWS_A_STATEMENT]

_BEGIN_SEGMENT: Final = """
    INSERT INTO sittings (first_seq, started_at_ns, started_wall_ns, shift_ns, boot_id, environment)
    VALUES (?, ?, ?, ?, ?, ?)"""


class Store:
    """The one write connection to a log. Made and used by one thread."""

    def __init__(self, path: Path, connection: sqlite3.Connection, hold: Hold) -> None:
        self._path = path
        self._connection = connection
        self._hold = hold
        self._is_synced = False

    @classmethod
    def create(cls, path: Path, session: Session) -> Store:
        """Make a new log.

        Raises:
            LogExistsError: There is such a file already, or one that SQLite would take for a part of it.
            LogNotMadeError: The place cannot be written to.
            BeingWrittenError: another process is about to make one.
        """
        if os.path.lexists(path):
            raise LogExistsError(f"{path} exists already: a log is never overwritten; choose another folder")
        require_no_companions(path)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            return cls.held(path, lambda undo: _made(path, session, undo))
        except (OSError, sqlite3.Error) as error:
            why = getattr(error, "strerror", error)
            raise LogNotMadeError(
                f"{path}: no log can be made here ({why}); choose another folder"
            ) from error

    @classmethod
    def held(cls, path: Path, connect: Callable[[ExitStack], sqlite3.Connection]) -> Store:
        """Lock the folder before touching the log; release everything if a step fails."""
        with ExitStack() as undo:
            hold = Hold(path.parent)
            undo.callback(hold.release)
            connection = connect(undo)
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = NORMAL")
            connection.execute(f"PRAGMA wal_autocheckpoint = {_CHECKPOINT_PAGES}")
            # A connection holds the write-ahead log from its first read. Before that, a reader that closes is
            # the last one to SQLite, and SQLite removes that file.
            connection.execute("SELECT 1 FROM sqlite_master").fetchone()
            store = cls(path, connection, hold)
            undo.pop_all()
        return store

    def append(self, rows: Sequence[schema.Row], beat: Heartbeat | None = None) -> None:
        """Commit rows in one transaction, or none, with `sqlite3.Error`."""
        connection = self._connection
        connection.execute("BEGIN")
        try:
            inserted = 0
            for count, insert in _INSERTS:
                while len(rows) >= inserted + count:
                    connection.execute(insert, [*chain.from_iterable(rows[inserted : inserted + count])])
                    inserted += count
            if beat is not None:
                connection.execute(schema.BEAT, beat)
            connection.execute("COMMIT")
            if not self._is_synced:
                # The first request does not wait until the disk has a new log.
                connection.execute("PRAGMA wal_checkpoint")
                self._is_synced = True
        except sqlite3.Error:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise

    def close(self, *, fold: bool = True) -> None:
        """Fold the write-ahead log into the file, unless a reader has it open too long, and close."""
        try:
            if fold:
                self._fold()
        finally:
            # The run is held no longer, also when the log could not be closed.
            try:
                self._connection.close()
            finally:
                self._hold.release()

    def abandon(self, *, cut: bool) -> None:
        """Close a log whose files another process changed, without changing the files further.

        SQLite would fold what is left of the write-ahead log into the file, which then is a mixture of two
        states; or remove by its name what belongs to another log, which lies there now. It does neither while
        another process has the log open, and a connection that may only read does neither.
        """
        with ExitStack() as closing:
            closing.callback(self._hold.release)
            if cut:
                closing.callback(drop_outdated, self._path)
            with suppress(sqlite3.Error):
                guard = sqlite3.connect(f"file:{_quoted(self._path)}?mode=ro", uri=True, timeout=0)
                closing.callback(guard.close)
                guard.execute("SELECT 1 FROM sqlite_master").fetchone()
            self._connection.close()

    def _fold(self) -> None:
        give_up = time.monotonic() + _READERS_S
        # It is tried again here: SQLite waits in some cases only, and then leaves two empty files behind.
        self._connection.execute("PRAGMA busy_timeout = 0")
        while not self._folded() and time.monotonic() < give_up:
            time.sleep(_TRY_AGAIN_S)

    def _folded(self) -> bool:
        """Try the checkpoint once; whether no further try is needed."""
        try:
            self._connection.execute("PRAGMA journal_mode = DELETE")
        except sqlite3.OperationalError as error:
            return error.sqlite_errorcode != sqlite3.SQLITE_BUSY
        except sqlite3.Error:
            return True
        return True


def _made(path: Path, session: Session, undo: ExitStack) -> sqlite3.Connection:
    # Who has made the file may take it away again, where the rest of the log has no room.
    path.touch(exist_ok=False)
    undo.callback(path.unlink, missing_ok=True)
    connection = connected(path, undo)
    connection.execute(f"PRAGMA page_size = {PAGE_BYTES}")
    connection.execute("PRAGMA synchronous = OFF")  # `append` makes up for it
    _fill(connection, session)
    return connection


def _fill(connection: sqlite3.Connection, session: Session) -> None:
    # One transaction for all of it: the file is a complete log, perhaps an empty one, or not a log at all.
    # The write-ahead mode is set later: the head is in the file itself, should the files next to it be lost.
    connection.execute("BEGIN")
    connection.execute(f"PRAGMA application_id = {schema.APPLICATION_ID}")
    connection.execute(f"PRAGMA user_version = {schema.VERSION}")
    for statement in (schema.DDL + schema.HEARTBEATS_DDL).split(";"):
        connection.execute(statement)
    connection.executemany("INSERT INTO event_types VALUES (?, ?)", schema.type_rows)
    settings, environment = schema.encode(session.settings), schema.encode(session.environment)
    anchors = (session.started_at_ns, session.started_wall_ns)
    connection.execute(
        "INSERT INTO session VALUES (?, ?, ?, ?, ?)", (session.session_id, *anchors, settings, environment)
    )
    begin_segment(connection, session, first_seq=1, shift_ns=0)
    connection.execute("COMMIT")


def begin_segment(connection: sqlite3.Connection, segment: Session, first_seq: int, shift_ns: int) -> None:
    """Add the row of a segment, and the heartbeat: complete up to the segment's start."""
    began_ns, environment = segment.started_at_ns, schema.encode(segment.environment)
    row = (first_seq, began_ns, segment.started_wall_ns, shift_ns, segment.boot_id, environment)
    connection.execute(_BEGIN_SEGMENT, row)
    connection.execute(schema.BEGIN_HEARTBEAT, (began_ns, began_ns))


def connected(path: Path, undo: ExitStack) -> sqlite3.Connection:
    """A connection that writes, in autocommit mode."""
    connection = sqlite3.connect(path, timeout=_LOCK_TIMEOUT_S, isolation_level=None)
    undo.callback(connection.close)
    return connection


def log_path(run: Path) -> Path:
    """The log of a run, given as a folder or as the log."""
    return run / LOG_NAME if run.is_dir() else run


def verify(path: Path) -> int:
    """Make sure that a file is a log that this version reads. Nothing is written.

    Returns:
        The schema version of the log.

    Raises:
        NotALogError: It is missing, is not SQLite, or was not written by this program.
        NewerLogError: A later version of this program wrote it.
    """
    require_plain_files(path)
    try:
        # Only who may write can roll back; what is looked at here is older than any change of a log.
        how = "immutable=1" if is_hot(path.resolve()) else "mode=ro"
        connection = sqlite3.connect(f"file:{_quoted(path)}?{how}", uri=True)
        try:
            (application_id,) = connection.execute("PRAGMA application_id").fetchone()
            (version,) = connection.execute("PRAGMA user_version").fetchone()
            if application_id == schema.APPLICATION_ID:
                require_plain_tables(connection, path)
        finally:
            connection.close()
    except (sqlite3.Error, UnicodeDecodeError) as error:
        why = (
            "another program has locked it"
            if "locked" in str(error)
            else "not a SQLite file that can be read"
        )
        raise NotALogError(f"{path}: {why} ({error})") from error
    if application_id != schema.APPLICATION_ID:
        raise NotALogError(f"{path}: a SQLite file, but not a log of this program")
    if version > schema.VERSION:
        raise NewerLogError(
            f"{path}: written with log format {version}, this version reads up to {schema.VERSION}; "
            "upgrade llm-loadgen"
        )
    return int(version)


def _quoted(path: Path) -> str:
    """Escape the characters with a meaning in a SQLite URI."""
    return str(path).replace("%", "%25").replace("?", "%3f").replace("#", "%23")
