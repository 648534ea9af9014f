"""A file that appears whole or not at all."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING
from uuid import uuid4

if TYPE_CHECKING:
    from pathlib import Path


def write_whole(path: Path, content: bytes) -> None:
    """Write a file, or leave what lies in its place, and nothing beside it.

    It is not written through a link, which could lead out of the folder: the link is replaced.

    Raises:
        OSError: It cannot be written.
    """
    # Of a name of its own: one that was killed may have left something behind, with the same process id.
    unfinished = path.with_name(f".{uuid4().hex}.tmp")
    try:
        with unfinished.open("xb") as file:
            file.write(content)
        unfinished.replace(path)
    except OSError:
        with suppress(OSError):
            unfinished.unlink(missing_ok=True)
        raise
