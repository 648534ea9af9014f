"""What Ray gives a node's process otherwise than a shell does: its priority and its folder."""

from __future__ import annotations

import os
from contextlib import suppress


def take_usual_priority() -> None:
    """Undo the niceness of 15 with which Ray starts its processes, where that is allowed."""
    with suppress(PermissionError):
        os.setpriority(os.PRIO_PROCESS, 0, 0)


def enter(folder: str) -> None:
    """Work in the coordinator's folder, if this machine has it, and in that of Ray's job otherwise."""
    with suppress(OSError):
        os.chdir(folder)
