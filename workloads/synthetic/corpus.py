"""A text of the user's to cut prompts from."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING, Final

from workloads.errors import MalformedError, PromptError, SourceError
from workloads.sources import read_stored

if TYPE_CHECKING:
    from pathlib import Path

MOST_BYTES: Final = 64 * 2**20
"""More text than that is not read: prompts cut from it would hardly be more different."""


@dataclass(frozen=True, slots=True)
class Corpus:
    """One."""

    name: str
    text: str
    sha256: str


def read_corpus(path: Path) -> Corpus:
    """Read a file of UTF-8 text.

    Raises:
        SourceError, MalformedError: The file cannot be read, is too large, or is not text.
        PromptError: The text has no words.
    """
    stored = read_stored(path)
    if len(stored) > MOST_BYTES:
        raise SourceError(f"{path}: more than {MOST_BYTES} bytes, which is too large; name a part of it")
    try:
        text = stored.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = stored.count(b"\n", 0, error.start) + 1
        raise MalformedError(f"{path}, line {line}: not UTF-8; save the file as plain UTF-8 text") from error
    if not text.strip():
        raise PromptError(f"{path}: there is no word in it to cut prompts from")
    return Corpus(path.name, text, sha256(stored).hexdigest())
