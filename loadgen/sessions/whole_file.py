"""Atomic writing of files."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING
from uuid import uuid4

if TYPE_CHECKING:
    from pathlib import Path


def write_whole(path: Path, content: bytes) -> None:
    """Write a file atomically: on failure the old one stays, without a temporary file next to it.

    A link is replaced, not followed, as it could lead out of the folder.

    Raises:
        OSError: It cannot be written.
    """
    # A unique name: a killed process with the same id may have left a temporary file.
    unfinished = path.with_name(f".{uuid4().hex}.tmp")
    try:
        with unfinished.open("xb") as file:
            file.write(content)
        unfinished.replace(path)
    except OSError:
        with suppress(OSError):
            unfinished.unlink(missing_ok=True)
        raise
