"""Atomic writing of files."""

from __future__ import annotations

from contextlib import contextmanager, suppress
from typing import IO, TYPE_CHECKING
from uuid import uuid4

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


def write_whole(path: Path, content: bytes) -> None:
    """Write a file atomically: on failure the old one stays, without a temporary file next to it.

    A link is replaced, not followed, as it could lead out of the folder.

    Raises:
        OSError: It cannot be written.
    """
    with writing_whole(path) as file:
        file.write(content)


@contextmanager
def writing_whole(path: Path) -> Iterator[IO[bytes]]:
    """Write a file piece by piece: it takes the place of the old one when the block ends without an error.

    Raises:
        OSError: It cannot be written.
    """
    # A unique name: a killed process with the same id may have left a temporary file.
    unfinished = path.with_name(f".{uuid4().hex}.tmp")
    try:
        with unfinished.open("xb") as file:
            yield file
        unfinished.replace(path)
    except BaseException:
        with suppress(OSError):
            unfinished.unlink(missing_ok=True)
        raise
