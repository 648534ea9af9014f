"""Memory that was freed goes back to the system: what a start leaves over is not held for the whole run."""

from __future__ import annotations

import ctypes
from typing import Final

from loadgen.driver.system.linux import LINUX

_TRIM: Final = getattr(ctypes.CDLL(None), "malloc_trim", None) if LINUX else None
"""glibc's; other C libraries lack it."""


def return_free_memory() -> None:
    """Return what the allocator holds and nothing uses. Takes about a millisecond."""
    if _TRIM is not None:
        _TRIM(0)
