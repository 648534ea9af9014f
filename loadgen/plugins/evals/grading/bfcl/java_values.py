"""Values that are written in Java, as the types that functions declare."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

JAVA_TYPES: Final[Mapping[str, type]] = {
    "byte": int,
    "short": int,
    "integer": int,
    "float": float,
    "double": float,
    "long": int,
    "boolean": bool,
    "char": str,
    "Array": list,
    "ArrayList": list,
    "Set": set,
    "HashMap": dict,
    "Hashtable": dict,
    "Queue": list,
    "Stack": list,
    "String": str,
    "any": str,
}

_INTEGER: Final = re.compile(r"-?\d+$")
_LONG: Final = re.compile(r"-?\d+[lL]$")
_FLOAT: Final = re.compile(r"-?\d+(\.\d+)?([eE][+-]?\d+)?[fF]$")
_DOUBLE: Final = re.compile(r"-?\d+(\.\d+)?([eE][+-]?\d+)?$")
_BOOLEAN: Final = re.compile(r"(true|false)\Z")
_ARRAY: Final = re.compile(r"new\s+\w+\[\]\s*\{(.*?)\}")
_LIST_OF: Final = re.compile(r"new\s+ArrayList<\w*>\(Arrays\.asList\((.+?)\)\)")
_LIST_ADDED: Final = re.compile(r"new\s+ArrayList<\w*>\(\)\s*\{\{\s*+(.+?)\s*\}\}", re.DOTALL)
_ADDED: Final = re.compile(r"add\((.+?)\)")
_EMPTY_LIST: Final = re.compile(r"new\s+ArrayList<\w*>\(\)")
_MAP: Final = re.compile(r"new\s+HashMap<.*?>\s*\(\)\s*\{\s*+\{?+\s*+([^}]*)\}", re.DOTALL)
_PUT: Final = re.compile(r"put\(\"(.*?)\",\s*(.*?)\)")
_EMPTY_MAP: Final = re.compile(r"new\s+HashMap<.*?>\s*\(\)")


def java_value(text: str, declared: str, inner: str | None = None) -> Any:
    """A value of the declared type; the text if the notation is another.

    Raises:
        ValueError: The type cannot be read, or it is a number of too many digits.
    """
    if declared in _WRITTEN:
        pattern, read = _WRITTEN[declared]
        return read(text) if pattern.match(text) else text
    if declared in _COLLECTIONS:
        return _COLLECTIONS[declared](text, inner)
    if declared in _TEXTS:
        return text
    raise ValueError(f"a Java {declared} cannot be read")


def _array(text: str, inner: str | None) -> Any:
    if (match := _ARRAY.search(text)) is None:
        return text
    elements = (element.strip() for element in match[1].split(","))
    return [java_value(element, inner) if inner else _guessed(element) for element in elements if element]


def _array_list(text: str, inner: str | None) -> Any:
    if match := _LIST_OF.search(text):
        return [_element(element.strip(), inner) for element in match[1].split(",")]
    if match := _LIST_ADDED.search(text):
        return [_element(element.strip(), inner) for element in _ADDED.findall(match[1])]
    return [] if _EMPTY_LIST.search(text) else text


def _element(text: str, inner: str | None) -> Any:
    if inner in {"char", "String"}:
        return text[1:-1]
    return java_value(text, inner) if inner else _guessed(text)


def _hash_map(text: str, _inner: str | None) -> Any:
    if match := _MAP.search(text):
        return {key: _guessed(value.strip()) for key, value in _PUT.findall(match[1].rstrip())}
    return {} if _EMPTY_MAP.search(text) else text


def _guessed(text: str) -> Any:
    """A value without a declared type, by notation."""
    if text in {"true", "false"}:
        return text == "true"
    if text.startswith('"') and text.endswith('"'):
        return text[1:-1]
    if _LONG.match(text):
        return int(text[:-1])
    if _FLOAT.match(text):
        return float(re.sub(r"[fF]$", "", text))
    return number_or_text(text)


def number_or_text(text: str) -> int | float | str:
    """A number where Python reads one, an integer first."""
    for number in (int, float):
        try:
            return number(text)
        except ValueError:
            continue
    return text


_WRITTEN: Final[Mapping[str, tuple[re.Pattern[str], Callable[[str], Any]]]] = {
    "byte": (_INTEGER, int),
    "short": (_INTEGER, int),
    "integer": (_INTEGER, int),
    "long": (_LONG, lambda text: int(re.sub(r"[lL]$", "", text))),
    "float": (_FLOAT, lambda text: float(re.sub(r"[fF]$", "", text))),
    "double": (_DOUBLE, float),
    "boolean": (_BOOLEAN, "true".__eq__),
}
_COLLECTIONS: Final[Mapping[str, Callable[[str, str | None], Any]]] = {
    "Array": _array,
    "ArrayList": _array_list,
    "HashMap": _hash_map,
}
_TEXTS: Final = frozenset({"char", "String", "any"})
