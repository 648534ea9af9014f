"""Memory of this process: the garbage collector, and pages that are given back."""

from __future__ import annotations

import ctypes
import gc
import resource
import time
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from loadgen.driver.system.linux import LINUX

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Self

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


_NS_PER_MS: Final = 1e6


def collect_rarely() -> None:
    """Make collections rare: imports, and most objects, live to the end of the program."""
    gc.set_threshold(100_000, 50, 100)


def calm() -> None:
    """Exempt long-lived objects from collection, and make collections rarer.

    A start leaves little over; collecting it among all that was imported would delay the first request.
    """
    gc.freeze()
    collect_rarely()


@contextmanager
def recovering() -> Iterator[None]:
    """At the end, let the collector have everything again, as often as before.

    Libraries count what it leaves over.
    """
    usual = gc.get_threshold()
    try:
        yield
    finally:
        gc.unfreeze()
        gc.set_threshold(*usual)


class GcPauses:
    """Measures the collector's pauses; a context manager."""

    def __init__(self) -> None:
        self.longest_ms = 0.0  #: the longest since it was last set to 0
        self._started_ns = 0

    def __enter__(self) -> Self:
        gc.callbacks.append(self._on_gc)
        return self

    def __exit__(self, *_: object) -> None:
        gc.callbacks.remove(self._on_gc)

    def _on_gc(self, phase: str, _info: dict[str, Any]) -> None:
        now_ns = time.monotonic_ns()
        if phase == "start":
            self._started_ns = now_ns
        else:
            self.longest_ms = max(self.longest_ms, (now_ns - self._started_ns) / _NS_PER_MS)


def allow_many_files() -> int:
    """Raise the soft limit as far as allowed; return the new limit."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    # macOS reports an unlimited hard limit, and then refuses it.
    with suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return soft
