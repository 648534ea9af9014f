"""The readable source of a run's log in any state: finished, being written, killed, read-only."""

from __future__ import annotations

import os
import shutil
import sqlite3
from contextlib import closing, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Final

from recorder.errors import BeingWrittenError, LogError
from recorder.file_checks import require_plain_files
from recorder.journal import SUFFIX as JOURNAL
from recorder.journal import is_hot, roll_back
from recorder.lock import is_held, is_held_here
from recorder.store import verify
from reporter.errors import blaming

if TYPE_CHECKING:
    from collections.abc import Iterator

WRITE_AHEAD: Final = "-wal"
_FINISHED: Final = "immutable=1"

_WRITE_AHEAD_HEAD_BYTES: Final = 32

_COPIES: Final = 3
"""How often a log that another machine writes is copied before the reader gives up."""


@contextmanager
def readable(log: Path, *, is_elsewhere: bool = False) -> Iterator[str]:
    """A URI by which SQLite can read a log, for as long as the context lasts.

    To read a log that is being written, or was killed, SQLite makes an index next to it. Where the folder
    cannot be written to, the log is therefore read from a copy; so is one that must be rolled back first. A
    finished log is called immutable, so that reading it leaves no files behind. A log that this very process
    writes is read from a snapshot: Arrow's driver has its own SQLite, and two of them in one process do
    not see each other's locks (sqlite.org/howtocorrupt.html, 2.2.1).

    Raises:
        NotALogError, NewerLogError: As for `recorder.store.verify`.
    """
    require_plain_files(log)
    real = log.resolve()
    # Who holds a run may be about to write ahead.
    held = is_held(real.parent)
    finished = not held and not _write_ahead(real).exists()
    if held and is_held_here(real.parent):
        with TemporaryDirectory(prefix="loadgen-") as folder:
            yield _uri(_snapshot(real, Path(folder)), _FINISHED)
        return
    # A reader changes no log: what a kill has left half done is undone in a copy.
    reads_in_place = finished or not is_elsewhere
    if reads_in_place and os.access(real.parent, os.W_OK) and (held or not is_hot(real)):
        verify(log)
        yield _uri(real, _FINISHED if finished else "mode=ro")
    else:
        with TemporaryDirectory(prefix="loadgen-") as folder:
            yield _uri(_copy(real, Path(folder)), "mode=ro")


def grows(uri: str) -> bool:
    """Whether a log may grow while read by this URI: two connections may then see two moments."""
    return not uri.endswith(_FINISHED)


def _snapshot(log: Path, folder: Path) -> Path:
    """A copy of a log as of one moment, made by the recorder's SQLite."""
    verify(log)
    copy = folder / log.name
    with (
        blaming(log),
        closing(sqlite3.connect(_uri(log, "mode=ro"), uri=True)) as source,
        closing(sqlite3.connect(copy)) as target,
    ):
        source.backup(target)
    return copy


def _copy(log: Path, folder: Path) -> Path:
    is_hot(log)  # before its journal is copied, which may be of any size
    copy = folder / log.name
    for _ in range(_COPIES):
        begun = _write_ahead_head(log)
        for suffix in ("", WRITE_AHEAD, JOURNAL):
            if log.with_name(log.name + suffix).exists():
                shutil.copyfile(log.with_name(log.name + suffix), copy.with_name(copy.name + suffix))
        if _write_ahead_head(log) == begun:
            break
        for suffix in (WRITE_AHEAD, JOURNAL):
            copy.with_name(copy.name + suffix).unlink(missing_ok=True)
    else:
        raise BeingWrittenError(f"{log}: the log grows faster than it can be copied; read it after the run")
    try:
        roll_back(copy)
        verify(copy)
    except LogError as error:
        raise type(error)(str(error).replace(str(copy), str(log))) from error
    return copy


def _write_ahead_head(log: Path) -> bytes:
    """The part of the write-ahead log that changes when SQLite restarts the file.

    As long as it does not, all pages that are folded into the log are in the write-ahead log too: then a
    copy of the log and, after it, of the write-ahead log is of one moment.
    """
    try:
        with _write_ahead(log).open("rb") as file:
            return file.read(_WRITE_AHEAD_HEAD_BYTES)
    except FileNotFoundError:
        return b""


def _write_ahead(log: Path) -> Path:
    """The path of the write-ahead log; a finished log has none."""
    return log.with_name(log.name + WRITE_AHEAD)


def _uri(log: Path, how: str) -> str:
    return f"{log.as_uri()}?{how}"
