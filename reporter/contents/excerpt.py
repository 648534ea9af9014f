"""The first characters of a text that may be of any length."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Excerpt:
    """The beginning of a text.

    Attributes:
        text: At most as many characters as the page has room for.
        length: The characters of the whole.
    """

    text: str
    length: int

    @property
    def left_out(self) -> int:
        """How many characters follow."""
        return self.length - len(self.text)


NO_TEXT = Excerpt("", 0)
"""Of a request that has none."""


def excerpt(text: str | None, limit: int) -> Excerpt:
    """The first `limit` characters of a text."""
    return NO_TEXT if text is None else Excerpt(text[:limit], len(text))
