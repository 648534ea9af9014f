"""Processes by their ids."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path


def is_gone(pid: int) -> bool:
    """Whether a process has ended; its parent may not have asked how, as in a container without an init."""
    if (state := _state(pid)) is not None:
        return state == "Z"
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return False


def is_stopped(pid: int) -> bool:
    """Whether a process stands still; assumed where the system does not say."""
    return _state(pid) in {"T", None}


def _state(pid: int) -> str | None:
    with suppress(FileNotFoundError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    return None
