"""NLTK's published data, from NLTK's search path, with the folders of NLTK_DATA first.

A folder of data may have it as well (`offer`).
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

FOLDER: Final = "nltk_punkt"
"""The sub-folder of a folder of data that has such data."""

VARIABLE: Final = "NLTK_DATA"
"""The environment variable with the folders that are looked in first."""


def offer(data: Path) -> None:
    """Add a folder of data to NLTK's search path, for this process and its children."""
    folder = data.resolve() / FOLDER
    if folder.is_dir() and folder not in _named():
        os.environ[VARIABLE] = os.pathsep.join(map(str, [*_named(), folder]))


def find(name: str) -> Path | None:
    """The file or folder of a name (`tokenizers/punkt_tab/english`); None if not found."""
    return next((place / name for place in places() if (place / name).exists()), None)


def places() -> Iterator[Path]:
    """NLTK's search path for data."""
    yield from _named()
    yield Path.home() / "nltk_data"
    for part in ("nltk_data", "share/nltk_data", "lib/nltk_data"):
        yield Path(sys.prefix) / part
    for shared in ("/usr/share", "/usr/local/share", "/usr/lib", "/usr/local/lib"):
        yield Path(shared) / "nltk_data"


def _named() -> list[Path]:
    return [Path(place).expanduser() for place in os.environ.get(VARIABLE, "").split(os.pathsep) if place]
