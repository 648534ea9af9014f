"""Continuing a log without a writer: the next segment of a run that is resumed."""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING

from recorder import schema
from recorder.errors import BeingWrittenError, LogNotMadeError, NotALogError, OldLogError
from recorder.file_checks import require_own_files
from recorder.journal import roll_back
from recorder.session import Before, shift
from recorder.store import Store, begin_segment, connected, verify

if TYPE_CHECKING:
    from contextlib import ExitStack
    from pathlib import Path

    from recorder.session import Session


def reopen(path: Path, segment: Session, after_seq: int | None = None) -> Store:
    """Continue a log without a writer: begin the next segment.

    Raises:
        NotALogError, NewerLogError: As for `verify`; or it is a link, has another name elsewhere, or says
            nothing of its segments.
        OldLogError: An earlier version wrote it.
        LogNotMadeError: It cannot be written to.
        BeingWrittenError: Another process writes it, or has continued it since `after_seq`.
    """
    # Who writes it where it lies would hold another folder than who writes it here.
    if path.is_symlink():
        raise NotALogError(f"{path}: a link, and a log is continued where it is; name that folder")
    try:
        return Store.held(path, lambda undo: _reopened(path, segment, after_seq, undo))
    except (OSError, sqlite3.Error) as error:
        raise LogNotMadeError(f"{path}: the log cannot be continued ({error})") from error


def _reopened(path: Path, segment: Session, after_seq: int | None, undo: ExitStack) -> sqlite3.Connection:
    require_current(path)
    require_own_files(path)
    roll_back(path.resolve())
    connection = connected(path, undo)
    connection.execute("BEGIN IMMEDIATE")
    (last_seq,) = connection.execute("SELECT coalesce(max(seq), 0) FROM events").fetchone()
    if after_seq is not None and last_seq != after_seq:
        raise BeingWrittenError(
            f"{path.parent}: another process has continued this run meanwhile; "
            f"`loadgen report {path.parent}` shows its results"
        )
    # This version may know events that the one which made the log did not.
    connection.executemany("INSERT OR IGNORE INTO event_types VALUES (?, ?)", schema.type_rows)
    connection.execute(schema.HEARTBEATS_DDL)
    begin_segment(connection, segment, last_seq + 1, shift(_before(connection, path), segment))
    connection.execute("COMMIT")
    return connection


def _before(connection: sqlite3.Connection, path: Path) -> Before:
    last = connection.execute(
        "SELECT started_at_ns, started_wall_ns, boot_id, shift_ns, max(started_at_ns, coalesce("
        "(SELECT max(at_ns) FROM events WHERE seq >= first_seq), started_at_ns)) "
        "FROM sittings ORDER BY sitting DESC LIMIT 1"
    ).fetchone()
    kinds = (int, int, str, int, int)
    if last is None or not all(map(isinstance, last, kinds)):
        raise NotALogError(f"{path}: the log is damaged: no start time; run again")
    return Before(*last)


def require_current(path: Path) -> None:
    """Make sure that this version can continue a log; raise as `verify`, or `OldLogError`."""
    version = verify(path)
    if version < schema.VERSION:
        raise OldLogError(
            f"{path}: written with log format {version}, and only a log of format {schema.VERSION} can be "
            "continued; run again"
        )
