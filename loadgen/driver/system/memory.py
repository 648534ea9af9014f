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

MOST_COPIED: Final = 64 * 2**20
"""Bytes of writable memory up to which it is copied: a worker has some 30 MB."""


def return_free_memory() -> None:
    """Return unused memory of the allocator. Takes about a millisecond."""
    if _TRIM is not None:
        _TRIM(0)


def copy_shared_pages() -> None:
    """Copy the writable pages that a fork shares: each would be copied on its first write, for 5 µs or more.

    The first request of a forked process writes some 250 of them. Takes about 15 ms; only Linux can do it.
    In a process with much memory (a notebook), none is copied.
    """
    if not LINUX:
        return
    lines = Path("/proc/self/maps").read_text().splitlines()
    spans = [line.split()[0].split("-") for line in lines if line.split()[1] == "rw-p"]
    areas = [(int(start, 16), int(end, 16)) for start, end in spans]
    if sum(end - start for start, end in areas) > MOST_COPIED:
        return
    madvise = ctypes.CDLL(None).madvise
    for start, end in areas:
        madvise(ctypes.c_void_p(start), ctypes.c_size_t(end - start), _POPULATE_WRITE)
