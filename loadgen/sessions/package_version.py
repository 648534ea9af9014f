"""The version of an installed package, without `importlib.metadata`, whose import a start would wait for."""

from __future__ import annotations

import re
import sys
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

_VERSION: Final = re.compile(r"^Version: *(\S+)", re.MULTILINE)
_SEPARATORS: Final = re.compile(r"[-_.]+")
_FILES: Final = {".dist-info": "METADATA", ".egg-info": "PKG-INFO"}
"""The folder of an installed package ends with one of these, and has its metadata in this file."""


@cache
def package_version(package: str) -> str | None:
    """The version of a package; None where it is not installed."""
    metadata = _installed(tuple(sys.path)).get(_normalized(package))
    line = None if metadata is None else _VERSION.search(metadata.read_text("utf-8", "replace"))
    return line[1] if line else None


@cache
def _installed(folders: tuple[str, ...]) -> Mapping[str, Path]:
    """The metadata files of all packages in these folders, by normalized name; the first folder wins.

    Source: https://packaging.python.org/en/latest/specifications/recording-installed-packages/
    """
    files: dict[str, Path] = {}
    for folder in map(Path, folders):
        # A folder may be missing or unreadable, and an entry may be an archive.
        with suppress(OSError):
            for entry in folder.iterdir():
                if (name := _FILES.get(entry.suffix)) and (entry / name).is_file():
                    files.setdefault(_normalized(entry.stem.partition("-")[0]), entry / name)
    return files


def _normalized(name: str) -> str:
    return _SEPARATORS.sub("-", name).lower()
