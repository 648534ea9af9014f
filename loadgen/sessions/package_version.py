"""The version of an installed package, without `importlib.metadata`, whose import a start would wait for."""

from __future__ import annotations

import os
import re
import sys
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_VERSION: Final = re.compile(r"^Version: *(\S+)", re.MULTILINE)
_SEPARATORS: Final = re.compile(r"[-_.]+")
_FILES: Final = {"dist-info": "METADATA", "egg-info": "PKG-INFO"}
"""The folder of an installed package ends with one of these, and has its metadata in this file."""


@cache
def package_version(package: str) -> str | None:
    """The version of a package; None where it is not installed."""
    for metadata in map(Path, _installed(tuple(sys.path)).get(_normalized(package), ())):
        if metadata.is_file():
            line = _VERSION.search(metadata.read_text("utf-8", "replace"))
            return line[1] if line else None
    return None


@cache
def _installed(folders: tuple[str, ...]) -> Mapping[str, Sequence[str]]:
    """Where metadata of all packages in these folders may be, by normalized name; the first one counts.

    There may be hundreds, so no Path is made of them.

    Source: https://packaging.python.org/en/latest/specifications/recording-installed-packages/
    """
    files: dict[str, list[str]] = {}
    for folder in folders:
        # A folder may be missing or unreadable, and an entry may be an archive.
        with suppress(OSError), os.scandir(folder or ".") as entries:
            for entry in entries:
                stem, _, ending = entry.name.rpartition(".")
                if stem and ending in _FILES:
                    place = os.path.join(entry.path, _FILES[ending])  # noqa: PTH118 (see above)
                    files.setdefault(_normalized(stem.partition("-")[0]), []).append(place)
    return files


def _normalized(name: str) -> str:
    return _SEPARATORS.sub("-", name).lower()
