"""The file that an export writes: never over another one, and whole or not at all."""

from __future__ import annotations

from contextlib import contextmanager
from typing import IO, TYPE_CHECKING

from loadgen.sessions.errors import SetupError, UsageError
from loadgen.sessions.files.run_folder import writing_whole

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


def require_writable(option: str, file: Path, *, force: bool | None) -> None:
    """Make sure that a file can be written.

    Args:
        option: The option that names it, for messages.
        file: The file.
        force: Whether an existing one is overwritten; None where no option does that.

    Raises:
        UsageError: It exists, is a folder, or its folder does not exist.
    """
    if file.is_dir():
        raise UsageError(f"{option} {file}: is a folder; name a file")
    if file.exists() and not force:
        forced = "" if force is None else ", or --force"
        raise UsageError(f"{option} {file}: the file exists; choose another name{forced}")
    if not file.parent.is_dir():
        raise UsageError(f"{option} {file}: the folder {file.parent} does not exist")


@contextmanager
def writing(file: Path) -> Iterator[IO[bytes]]:
    """Write a file piece by piece; the file appears when the block ends without an error.

    Raises:
        SetupError: It cannot be written.
    """
    try:
        with writing_whole(file) as unfinished:
            yield unfinished
    except OSError as error:
        raise SetupError(f"{file} cannot be written ({error.strerror})") from error
