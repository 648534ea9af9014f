"""Folders with names chosen by this program: created at once, so that no other process takes the name."""

from __future__ import annotations

from contextlib import suppress
from itertools import chain, count
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_ATTEMPTS: Final = 100

_claimed: Final[list[Path]] = []
"""What this process has made, parents before what is in them."""


def claim(folder: Path) -> Path:
    """Make a folder, or the first free one of `folder-2`, `folder-3`…, and return the path.

    Runs may start in the same second: the file system decides which process has which name.

    Raises:
        OSError: None can be made there.
    """
    for name in _names(folder):
        try:
            _make(name)
        except FileExistsError:
            continue
        return name
    raise AssertionError  # there is always another name


def is_claimed(folder: Path) -> bool:
    """Whether this process has made a folder, and may remove the folder."""
    return folder in _claimed


def give_back() -> None:
    """Take away the folders that nothing was put into."""
    while _claimed:
        with suppress(OSError):
            _claimed.pop().rmdir()


def _names(folder: Path) -> Iterator[Path]:
    return chain([folder], (folder.with_name(f"{folder.name}-{number}") for number in count(2)))


def _make(folder: Path) -> None:
    """Make a missing folder, with a missing parent.

    Raises:
        FileExistsError: It is there.
        OSError: It cannot be made.
    """
    for attempt in range(_ATTEMPTS):
        if not folder.parent.exists():
            with suppress(FileExistsError):
                folder.parent.mkdir(parents=True)
                _claimed.append(folder.parent)
        try:
            folder.mkdir()
        except FileNotFoundError:
            # Another process may just have taken the parent away, which was empty.
            if attempt == _ATTEMPTS - 1:
                raise
        else:
            _claimed.append(folder)
            return
