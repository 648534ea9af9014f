"""The process environment under Ray that differs from a shell's: priority and folder."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import Final

from loadgen.driver.system.linux import LINUX

_THREADS: Final = Path("/proc/self/task")


def take_usual_priority() -> None:
    """Undo Ray's niceness of 15, if allowed.

    On Linux each thread has its own niceness. Those of Ray take the GIL as well: while one that is niced
    holds it and waits for a processor, no other runs Python.
    """
    threads = [int(thread.name) for thread in _THREADS.iterdir()] if LINUX else [0]
    for thread in threads:
        with suppress(PermissionError, ProcessLookupError):
            os.setpriority(os.PRIO_PROCESS, thread, 0)


def enter(folder: str) -> None:
    """Change to the coordinator's folder, if present on this machine, else to the Ray job's."""
    with suppress(OSError):
        os.chdir(folder)
