"""A counter in shared memory: each claim gets a unique next number."""

from __future__ import annotations

import fcntl
import mmap
import os
from typing import TYPE_CHECKING, Final

from loadgen.driver.system.linux import LINUX

if TYPE_CHECKING:
    from typing import Self

_BYTES: Final = 8


class SharedCounter:
    """A counter of claims from 0 on, over all processes that hold the counter.

    Its 8 bytes are memory that the processes share, stored in one piece: a process is killed before or after.
    The lock is the kernel's, which takes it back from a process that dies; a file offset as the counter would
    do without one, but not every kernel moves it atomically.
    """

    def __init__(self, fd: int | None = None) -> None:
        self.fd = _file() if fd is None else fd
        self._memory = mmap.mmap(self.fd, _BYTES)
        self._number = memoryview(self._memory).cast("Q")

    def claim(self) -> int:
        """Pass, and get the number of the passing."""
        fcntl.lockf(self.fd, fcntl.LOCK_EX)
        try:
            number = self._number[0]
            self._number[0] = number + 1
        finally:
            fcntl.lockf(self.fd, fcntl.LOCK_UN)
        return number

    def reset(self) -> None:
        """Count from 0 again, while no worker counts."""
        self._number[0] = 0

    def close(self) -> None:
        """Release the shared memory."""
        self._number.release()
        self._memory.close()
        os.close(self.fd)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _file() -> int:
    """A file without a name, of the counter's size, that a child can inherit."""
    if LINUX:
        fd = os.memfd_create("counter", os.MFD_CLOEXEC)
    else:
        import tempfile

        with tempfile.TemporaryFile() as file:
            fd = os.dup(file.fileno())
    os.write(fd, bytes(_BYTES))
    return fd
