"""JSON in an answer that was asked for JSON: alone, in a fenced block, or at the end of some words."""

from __future__ import annotations

import json
import re
import unicodedata
from typing import TYPE_CHECKING, Any, Final

import orjson

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_BLOCK: Final = re.compile(r"```(?:json)?[ \t]*\n(.*?)```", re.DOTALL | re.IGNORECASE)
_DECODER: Final = json.JSONDecoder()
_MOST_STARTS: Final = 64


def json_in(text: str, kind: type) -> Any:
    """The value of a kind, `dict` or `list`, that an answer consists of; None where there is none.

    The whole text; else the last fenced block that is such a value; else what begins at one of the first 64
    lines that begin with a bracket, and has nothing but white space, or the end of a sentence, behind it.
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


def objects_in(text: str) -> list[dict[str, Any]]:
    """The outermost objects of a text, in order, without those that are not JSON.

    Braces within strings count as well, as in the code of pinchbench and OpenJarvis.
    """
    return [value for part in _braced(text) if (value := object_of(part)) is not None]


def object_of(text: str) -> dict[str, Any] | None:
    """The JSON object that a text is; None for any other text."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def object_between_braces(text: str) -> dict[str, Any] | None:
    """The JSON object from the first brace of a text to the last; None for other text."""
    try:
        value = orjson.loads(text[text.find("{") : text.rfind("}") + 1])
    except orjson.JSONDecodeError:
        return None
    return value if isinstance(value, dict) else None


def _braced(text: str) -> list[str]:
    parts: list[str] = []
    start = depth = 0
    for place, character in enumerate(text):
        if character == "{":
            if depth == 0:
                start = place
            depth += 1
        elif character == "}":
            depth -= 1
            if depth == 0:
                parts.append(text[start : place + 1])
    return parts
