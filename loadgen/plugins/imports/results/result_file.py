"""The place of a harness' results: a file, or the file's folder."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workloads.errors import SourceError

if TYPE_CHECKING:
    from pathlib import Path


def file_in(path: Path, name: str, what: str) -> Path:
    """The file that a path names, directly or by folder.

    Args:
        path: As the user gave it.
        name: The name of the file in a folder.
        what: What the folder should be, for messages: `a run of Terminal-Bench`.

    Raises:
        SourceError: Neither is there.
    """
    require_there(path)
    if path.is_file():
        return path
    if (path / name).is_file():
        return path / name
    raise SourceError(f"{path} is not {what}: no {name}")


def file_of(path: Path, what: str) -> Path:
    """The path, if a file.

    Args:
        path: As the user gave it.
        what: What it should be, for messages: `a report of SWE-fficiency, eval_report_RUN.csv`.

    Raises:
        SourceError: It does not exist, or is a folder.
    """
    require_there(path)
    if path.is_dir():
        raise SourceError(f"{path} is a folder: name {what}")
    return path


def require_there(path: Path) -> None:
    """Refuse a path that does not exist.

    Raises:
        SourceError: It does not.
    """
    if not path.exists():
        raise SourceError(f"{path} does not exist")
