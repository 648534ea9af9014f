"""The first characters of a text that may be of any length."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

_REST: Final = 200_000
"""The most characters that a page keeps after the first ones: prompts of long contexts are longer."""


@dataclass(frozen=True, slots=True)
class Excerpt:
    """The beginning of a text.

    Attributes:
        text: The first characters.
        length: The characters of the whole.
        rest: The characters after `text`, as many as there is room for.
    """

    text: str
    length: int
    rest: str = ""

    @property
    def left_out(self) -> int:
        """How many characters follow."""
        return self.length - len(self.text) - len(self.rest)


NO_TEXT = Excerpt("", 0)
"""Of a request that has none."""


def excerpt(text: str | None, limit: int) -> Excerpt:
    """The first `limit` characters of a text, and the rest."""
    return NO_TEXT if text is None else Excerpt(text[:limit], len(text), text[limit : limit + _REST])
