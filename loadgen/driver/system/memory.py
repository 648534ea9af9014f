"""Memory of this process: the start-up's garbage is returned, and pages that a fork shares are copied."""

from __future__ import annotations

import ctypes
from pathlib import Path
from typing import Final

from loadgen.driver.system.linux import LINUX

_TRIM: Final = getattr(ctypes.CDLL(None), "malloc_trim", None) if LINUX else None
"""glibc's; other C libraries lack it."""

_POPULATE_WRITE: Final = 23
"""MADV_POPULATE_WRITE of Linux 5.14; `mmap` names it from Python 3.12."""


def return_free_memory() -> None:
    """Return unused memory of the allocator. Takes about a millisecond."""
    if _TRIM is not None:
        _TRIM(0)


def copy_shared_pages() -> None:
    """Copy the writable pages that a fork shares: each would be copied on its first write, for 5 µs or more.

    The first request of a forked process writes some 250 of them. Takes about 15 ms; only Linux can do it.
    """
    if not LINUX:
        return
    madvise = ctypes.CDLL(None).madvise
    for line in Path("/proc/self/maps").read_text().splitlines():
        span, rights, *_ = line.split(maxsplit=2)
        if rights == "rw-p":
            start, end = (int(address, 16) for address in span.split("-"))
            madvise(ctypes.c_void_p(start), ctypes.c_size_t(end - start), _POPULATE_WRITE)
