"""JSON in an answer that was asked for JSON: alone, in a fenced block, or at the end of some words."""

from __future__ import annotations

import json
import re
import unicodedata
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_BLOCK: Final = re.compile(r"```(?:json)?[ \t]*\n(.*?)```", re.DOTALL | re.IGNORECASE)
_DECODER: Final = json.JSONDecoder()
_MOST_STARTS: Final = 64


def json_in(text: str, kind: type) -> Any:
    """The value of a kind that an answer consists of; None where there is none.

    The whole text; else the last fenced block that is such a value; else what begins at one of the first 64
    lines that begin with a bracket, and has nothing but white space, or the end of a sentence, behind it.

    Args:
        text: The answer.
        kind: `dict` or `list`.
    """
    return next((value for value in _values(text) if isinstance(value, kind)), None)


def _values(text: str) -> Iterator[Any]:
    yield from _decoded([text])
    yield from _decoded(reversed(_BLOCK.findall(text)))
    starts = [match.start(1) for match in re.finditer(r"^[ \t]*([\[{])", text, re.MULTILINE)]
    yield from _decoded(text[start:].rstrip().rstrip(".`") for start in starts[:_MOST_STARTS])


def _decoded(texts: Iterable[str]) -> Iterator[Any]:
    for text in texts:
        try:
            yield _DECODER.decode(text.strip())
        except (ValueError, RecursionError):
            continue


def plain(text: object) -> str:
    """A short answer without case, spaces, character forms, quotes and a final stop."""
    text_plain = unicodedata.normalize("NFKC", str(text)).casefold()
    text_plain = text_plain.replace("\N{RIGHT SINGLE QUOTATION MARK}", "'")
    return " ".join(text_plain.split()).strip(" \"'`").rstrip(".!").strip()
