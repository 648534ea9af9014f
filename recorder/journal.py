"""The rollback journal that a kill leaves next to a log: its check, and the rollback.

A log is written ahead, but where a process reopens a finished one, or folds it into one file at the end,
SQLite keeps for a moment what the file was before. A process that was killed just then leaves that journal,
and the log has to be rolled back before it is read. A writer does it in place; a reader, which changes no
file, on a copy (`reporter.log.source`).

A folder with a log may come from anywhere. SQLite trusts a journal: one whose header says so would empty the
log, or make it terabytes long. So its header is checked first: https://www.sqlite.org/fileformat.html, 3.
"""

from __future__ import annotations

import errno
import os
import sqlite3
import struct
from contextlib import closing, suppress
from typing import TYPE_CHECKING, Final

from recorder.errors import NotALogError

if TYPE_CHECKING:
    from pathlib import Path

SUFFIX: Final = "-journal"

_MAGIC: Final = bytes.fromhex("d9d505f920a163d7")
"""How a journal begins; and how one ends that names a file which SQLite would look into, and remove."""

_HEADER: Final = struct.Struct(">8sIIIII")
"""The magic, the number of records, a nonce, the pages of the database before, sector size, page size."""

_PAGE_SIZE: Final = slice(16, 18)
"""Where a database has its page size; 1 is 65,536."""

_SECTORS: Final = range(32, 65_537)
_MOST_GROWN: Final = 256
"""The most pages that a change of a log, which adds a row or two, can have appended."""
_SPARE_BYTES: Final = 2**20
"""Of a journal, for its headers."""

_PATIENCE_S: Final = 5.0


def is_hot(log: Path) -> bool:
    """Whether a log has a journal to roll back before reading; raise `NotALogError` for a foreign one."""
    return _header(log) is not None


def roll_back(log: Path) -> None:
    """Let SQLite roll back a killed process's transaction; raise `NotALogError` for a foreign journal.

    While that process lives nothing is undone: it has the file locked.
    """
    pages = _header(log)
    if pages is None:
        return
    if pages < _pages(log)[0] - _MOST_GROWN:
        raise _foreign(log, "would cut off most of the log")
    with closing(sqlite3.connect(log, timeout=_PATIENCE_S)) as connection:
        connection.execute("SELECT count(*) FROM sqlite_master").fetchone()


def _header(log: Path) -> int | None:
    """The pages that a log had before, by the journal of a change that was not finished; None without one."""
    journal = log.with_name(log.name + SUFFIX)
    try:
        with journal.open("rb") as file:
            head = file.read(_HEADER.size)
            size = file.seek(0, os.SEEK_END)
            file.seek(max(0, size - len(_MAGIC)))
            tail = file.read()
    except FileNotFoundError:
        return None
    if not head or not head[0]:  # of a change that has not reached the log yet, or is over
        return None
    if tail == _MAGIC:
        raise _foreign(log, "names another file")
    if len(head) < _HEADER.size:
        raise _foreign(log, "has no header")
    magic, _, _, before, sector_size, page_size = _HEADER.unpack(head)
    pages, of_log = _pages(log)
    if magic != _MAGIC or page_size != of_log or sector_size not in _SECTORS or sector_size.bit_count() != 1:
        raise _foreign(log, "has a header that does not fit")
    if not 0 < before <= pages:
        raise _foreign(log, f"would make {pages:,} pages of the log {before:,}")
    if size > pages * (page_size + 8) + sector_size + _SPARE_BYTES:
        raise _foreign(log, "is longer than the log")
    return int(before)


def _pages(log: Path) -> tuple[int, int]:
    """The page count and page size (bytes) of a log; (0, 0) for a file without a database."""
    with log.open("rb") as file:
        head = file.read(_PAGE_SIZE.stop)
        size = file.seek(0, os.SEEK_END)
    page_size = int.from_bytes(head[_PAGE_SIZE], "big")
    page_size = 65_536 if page_size == 1 else page_size
    return (size // page_size, page_size) if page_size else (0, 0)


def _foreign(log: Path, why: str) -> NotALogError:
    journal = log.with_name(log.name + SUFFIX)
    return NotALogError(f"{journal}: {why}, which no journal of a log does; remove it")


WAL_SUFFIX: Final = "-wal"

_HEADER_BYTES: Final = 32
_WAL_PAGE_SIZE: Final = struct.Struct(">8xI")
_FRAME_HEADER_BYTES: Final = 24

_FOLDED: Final = struct.Struct("=96xI")
"""In the wal-index: how many frames have been folded into the log, in the byte order of this machine."""


def has_hole(path: Path) -> bool:
    """Tell whether a file was cut and written on: SQLite writes one without a gap."""
    fd = os.open(path, os.O_RDONLY)
    try:
        size = os.fstat(fd).st_size
        return _first_hole(fd, size) < size
    finally:
        os.close(fd)


def drop_outdated(log: Path) -> None:
    """Empty the rest of a truncated write-ahead log if the log itself has newer pages.

    A reader prefers the pages of the write-ahead log: older ones would spoil the log.
    """
    wal = log.with_name(log.name + WAL_SUFFIX)
    with suppress(OSError):
        index = log.with_name(f"{log.name}-shm").read_bytes()
        fd = os.open(wal, os.O_RDWR | os.O_NOFOLLOW)
        try:
            size = os.fstat(fd).st_size
            head = os.pread(fd, _WAL_PAGE_SIZE.size, 0)
            if len(head) < _WAL_PAGE_SIZE.size or len(index) < _FOLDED.size:
                return
            (page_size,), (folded,) = _WAL_PAGE_SIZE.unpack(head), _FOLDED.unpack_from(index)
            whole = (_first_hole(fd, size) - _HEADER_BYTES) // (_FRAME_HEADER_BYTES + page_size)
            if whole < folded:
                os.ftruncate(fd, 0)
        finally:
            os.close(fd)


def _first_hole(fd: int, size: int) -> int:
    """The offset of the first hole in a file; the file's size without one."""
    if not size:
        return 0
    try:
        return os.lseek(fd, 0, os.SEEK_HOLE)
    except OSError as error:
        if error.errno not in {errno.EINVAL, errno.ENOTSUP, errno.ENXIO}:
            raise
        return size
