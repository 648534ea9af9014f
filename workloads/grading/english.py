"""Sentences and words of English text, as NLTK up to 3.9 tells them.

Sentences need punkt's English model, which is data of NLTK's: `punkt_tab`. It is looked for where NLTK looks,
in the folders of NLTK_DATA first; a folder of data may have it as well (`offer`).
"""

from __future__ import annotations

import os
import sys
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

from workloads.errors import SourceError
from workloads.grading import punkt, treebank

if TYPE_CHECKING:
    from collections.abc import Iterator

PUNKT_FOLDER: Final = "nltk_punkt"
"""The sub-folder of a folder of data that has `MODEL`."""

MODEL: Final = "tokenizers/punkt_tab/english"

_VARIABLE: Final = "NLTK_DATA"


def offer(data: Path) -> None:
    """Have the model looked for in a folder of data too, by this process and those that it starts.

    Args:
        data: The folder; nothing happens where it has no `nltk_punkt`.
    """
    folder = data.resolve() / PUNKT_FOLDER
    if folder.is_dir() and folder not in _named():
        os.environ[_VARIABLE] = os.pathsep.join(map(str, [*_named(), folder]))


def is_there() -> bool:
    """Whether punkt's English model is in one of its places."""
    return any((place / MODEL).is_dir() for place in _places())


def sentences(text: str) -> list[str]:
    """The sentences of a text.

    Raises:
        SourceError: Punkt's English model is not there.
    """
    return punkt.sentences(model(), text)


def words(text: str) -> list[str]:
    """The words and marks of a text, distinguished a sentence at a time.

    Raises:
        SourceError: Punkt's English model is not there.
    """
    return [word for sentence in sentences(text) for word in treebank.words(sentence)]


@cache
def model() -> punkt.PunktModel:
    """Punkt's English model; read once a process.

    Raises:
        SourceError: It is not there, or cannot be read.
    """
    path = next((place / MODEL for place in _places() if (place / MODEL).is_dir()), None)
    if path is None:
        raise SourceError(
            "telling English sentences takes a model, punkt_tab, that NLTK publishes: fetch it with "
            "`python -m nltk.downloader punkt_tab` (pip install 'llm-loadgen[ifeval]'); or name a folder "
            f"that has {MODEL} in the environment variable {_VARIABLE}, or copy that folder into the one of "
            f"--data and call it {PUNKT_FOLDER}"
        )
    try:
        return punkt.read(path)
    except (OSError, ValueError) as error:
        raise SourceError(f"{path}: not punkt's English model ({error}); fetch it again") from error


def _named() -> list[Path]:
    return [Path(place).expanduser() for place in os.environ.get(_VARIABLE, "").split(os.pathsep) if place]


def _places() -> Iterator[Path]:
    """Where NLTK looks for its data."""
    yield from _named()
    yield Path.home() / "nltk_data"
    for part in ("nltk_data", "share/nltk_data", "lib/nltk_data"):
        yield Path(sys.prefix) / part
    for shared in ("/usr/share", "/usr/local/share", "/usr/lib", "/usr/local/lib"):
        yield Path(shared) / "nltk_data"
