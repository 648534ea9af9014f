"""Values that are written in JavaScript, as the types that functions declare."""

from __future__ import annotations

import re
from bisect import bisect_right
from operator import neg
from typing import TYPE_CHECKING, Any, Final

from loadgen.plugins.evals.grading.bfcl.java_values import number_or_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

JAVASCRIPT_TYPES: Final[Mapping[str, type]] = {
    "String": str,
    "integer": int,
    "float": float,
    "Bigint": int,
    "Boolean": bool,
    "dict": dict,
    "array": list,
    "any": str,
}

_INTEGER: Final = re.compile(r"-?\d+$")
_FLOAT: Final = re.compile(r"-?\d+(\.\d+)?$")
_BIGINT: Final = re.compile(r"-?\d+n$")
_BOOLEAN: Final = re.compile(r"(true|false)\Z")
_BRACKETED: Final = re.compile(r"\[(.*?)\]")
_ARRAY: Final = re.compile(r"\[(.*?)\]|\bnew\s+Array\((.*?)\)")
_OBJECT: Final = re.compile(r"\{(.*?)\}")
_PAIR: Final = re.compile(r"([^:]+):\s*(.*?)(?:,\s*(?=[^,]+:)|$)")


def javascript_value(text: str, declared: str, inner: str | None = None) -> Any:
    """A value of the declared type; the text if the notation is another.

    Raises:
        ValueError: The type does not exist, or it is a number that cannot be read.
    """
    if declared in _WRITTEN:
        pattern, read = _WRITTEN[declared]
        return read(text) if pattern.match(text) else text
    if declared in _COLLECTIONS:
        return _COLLECTIONS[declared](text.strip(), inner)
    if declared == "String":
        return text[1:-1] if _is_quoted(text) else text
    if declared == "any":
        return text
    raise ValueError(f"a JavaScript {declared} cannot be read")


def _is_quoted(text: str) -> bool:
    return any(text.startswith(quote) and text.endswith(quote) for quote in "\"'")


_OPENINGS: Final = ((re.compile(r"\[\s*\["), "]"), (re.compile(r"\bnew\s+Array\(\s*\["), ")"))
_CLOSED: Final = re.compile(r"\](?=(\s*+))")
_NEXT_ROW: Final = re.compile(r",\s*\[")


def end_of_rows(text: str) -> int | None:
    """The end of an array of arrays at the start of a text; None without one."""
    for opening, closing in _OPENINGS:
        if match := opening.match(text):
            return _end(text, match.end(), closing)
    return None


def _end(text: str, start: int, closing: str) -> int | None:
    """The end, from inside of the first row on."""
    places: list[int] = []  # the brackets that can close a row, the last first
    ends: dict[int, int] = {}
    for bracket in reversed(list(_CLOSED.finditer(text, start))):
        place, rest = bracket.start(), bracket.end(1)
        if following := _NEXT_ROW.match(text, rest):
            end = _end_after(text, following.end(), places, ends)
        else:
            end = rest + 1 if text.startswith(closing, rest) else None
        if end is not None:
            places.append(place)
            ends[place] = end
    return _end_after(text, start, places, ends)


def _end_after(text: str, start: int, places: list[int], ends: dict[int, int]) -> int | None:
    """The end of a row, closed by the first possible bracket."""
    if not (after := bisect_right(places, -start, key=neg)):
        return None
    place = places[after - 1]
    return ends[place] if text.find("\n", start, place) < 0 else None


def _array(text: str, inner: str | None) -> Any:
    if end := end_of_rows(text):
        first, *others = (row.strip() for row in _BRACKETED.findall(text[:end]))
        return [[_guessed(item) for item in row.split(",")] for row in (first.removeprefix("["), *others)]
    if (match := _ARRAY.match(text)) is None:
        return text
    content = (match[2] if match[1] is None else match[1]).strip()
    elements = [element.strip() for element in content.split(",")] if content else []
    try:
        return [javascript_value(item, inner) if inner else _guessed(item) for item in elements]
    except ValueError:
        return text


def _object(text: str, _inner: str | None) -> Any:
    """An object; a nested object is cut off at the end."""
    if text == "{}":
        return {}
    if (match := _OBJECT.match(text)) is None:
        return text
    return {key.strip().strip("'\""): _member(value.strip()) for key, value in _pairs(match[1])}


def _pairs(content: str) -> Iterator[tuple[str, str]]:
    """The members of an object; text after the last colon is scanned once."""
    place = 0
    while content.find(":", place) >= 0 and (match := _PAIR.search(content, place)):
        yield match[1], match[2]
        place = match.end()


def _member(text: str) -> Any:
    if text.startswith("[") and text.endswith("]"):
        return _array(text, None)
    return _guessed(text.strip("'\""))


def _guessed(text: str) -> Any:
    """A value without a declared type, by notation."""
    text = text.strip()
    if text in {"true", "false"}:
        return text == "true"
    return text[1:-1] if _is_quoted(text) else number_or_text(text)


_WRITTEN: Final[Mapping[str, tuple[re.Pattern[str], Callable[[str], Any]]]] = {
    "integer": (_INTEGER, int),
    "float": (_FLOAT, float),
    "Bigint": (_BIGINT, lambda text: int(text[:-1])),
    "Boolean": (_BOOLEAN, "true".__eq__),
}
_COLLECTIONS: Final[Mapping[str, Callable[[str, str | None], Any]]] = {"array": _array, "dict": _object}
