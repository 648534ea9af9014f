"""Visible texts of servers and users: control characters appear as escapes."""

from __future__ import annotations

from typing import Final

_SHOWN: Final = frozenset("\n\t")


def visible(value: object) -> str:
    """A text with escapes for unprintable characters: controls, bidirectional overrides, lone surrogates.

    Line ends and tabs stay. HTML is escaped by the templates, not here.
    """
    lines = str(value).replace("\r\n", "\n").replace("\r", "\n")
    if lines.isprintable():
        return lines
    return "".join(
        char if char in _SHOWN or char.isprintable() or char == "\u00a0" else _escape(char) for char in lines
    )


def _escape(char: str) -> str:
    return char.encode("unicode_escape").decode("ascii")
