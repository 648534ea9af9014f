"""What Ray gives a node's process otherwise than a shell does: its priority and its folder."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import Final

from loadgen.driver.system.linux import LINUX

_THREADS: Final = Path("/proc/self/task")


def take_usual_priority() -> None:
    """Undo the niceness of 15 with which Ray starts its processes, where that is allowed.

    On Linux each thread has a niceness of its own. Those of Ray take the GIL as well: while one that is niced
    holds it and waits for a processor, no other runs Python.
    """
    threads = [int(thread.name) for thread in _THREADS.iterdir()] if LINUX else [0]
    for thread in threads:
        with suppress(PermissionError, ProcessLookupError):
            os.setpriority(os.PRIO_PROCESS, thread, 0)


def enter(folder: str) -> None:
    """Work in the coordinator's folder, if this machine has it, and in that of Ray's job otherwise."""
    with suppress(OSError):
        os.chdir(folder)
