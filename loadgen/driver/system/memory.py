"""Return of freed memory to the system, so that a run does not hold the start-up's garbage."""

from __future__ import annotations

import ctypes
from typing import Final

from loadgen.driver.system.linux import LINUX

_TRIM: Final = getattr(ctypes.CDLL(None), "malloc_trim", None) if LINUX else None
"""glibc's; other C libraries lack it."""


def return_free_memory() -> None:
    """Return unused memory of the allocator. Takes about a millisecond."""
    if _TRIM is not None:
        _TRIM(0)
