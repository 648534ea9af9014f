"""The write-ahead file of a log: its integrity, and the handling of a damaged one.

SQLite does not notice that another process has cut it. It goes on writing where it was, which leaves a hole,
and takes what it reads there for pages of the log. https://www.sqlite.org/walformat.html has the layouts.
"""

from __future__ import annotations

import errno
import os
import struct
from contextlib import suppress
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from pathlib import Path

SUFFIX: Final = "-wal"

_HEADER_BYTES: Final = 32
_PAGE_SIZE: Final = struct.Struct(">8xI")
_FRAME_HEADER_BYTES: Final = 24

_FOLDED: Final = struct.Struct("=96xI")
"""In the wal-index: how many frames have been folded into the log, in the byte order of this machine."""


def has_hole(path: Path) -> bool:
    """Tell whether a file was cut and written on: SQLite writes one without a gap.

    Raises:
        OSError: It cannot be read.
    """
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
    wal = log.with_name(log.name + SUFFIX)
    with suppress(OSError):
        index = log.with_name(f"{log.name}-shm").read_bytes()
        fd = os.open(wal, os.O_RDWR | os.O_NOFOLLOW)
        try:
            size = os.fstat(fd).st_size
            head = os.pread(fd, _PAGE_SIZE.size, 0)
            if len(head) < _PAGE_SIZE.size or len(index) < _FOLDED.size:
                return
            (page_size,), (folded,) = _PAGE_SIZE.unpack(head), _FOLDED.unpack_from(index)
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
