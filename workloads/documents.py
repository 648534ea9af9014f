"""TOML and JSON that a user wrote, as plain values; `yaml_values` has YAML.

A parser can make gigabytes of a short text: a TOML key of 20,000 parts takes 1.5 GB. So nesting and the
length of numbers are bounded, which is checked before the text is parsed; its reader bounds its length.
"""

from __future__ import annotations

import json
import re
import tomllib
from typing import TYPE_CHECKING, Any, Final

from workloads.errors import MalformedError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


DEEPEST: Final = 32
"""How deep lists and tables may be nested, and how many parts a dotted key may have."""

LONGEST_NUMBER: Final = 100
"""In characters. A float with all its digits has 25."""

TOO_DEEP: Final = f"nested deeper than {DEEPEST} levels"

_TOML_TOKEN: Final = re.compile(
    r'"""(?:[^\\]|\\.)*?"{3}"{0,2}+|'
    r"'''.*?'{3}'{0,2}+|"
    r'"(?:[^"\\\n]|\\[^\n])*+"|'
    r"'[^'\n]*+'|"
    r"#[^\n]*+|"
    r"(?P<word>[\w+-]++)|"
    r"(?P<other>[\[\]{}.=,\n])",
    re.DOTALL,
)
_JSON_TOKEN: Final = re.compile(r'"(?:[^"\\]|\\.)*+"|([\[\]{}])', re.DOTALL)
_SURROGATES: Final = re.compile(r"(?<!\\)(?:\\\\)*((?:\\u[dD][89a-fA-F][0-9a-fA-F]{2})+)")
_PAIRS: Final = re.compile(r"(?:\\u[dD][89abAB]..\\u[dD][c-fC-F]..)*")
_STEPS: Final = {"[": 1, "{": 1, "]": -1, "}": -1}
_NUMBER: Final = re.compile(r"[+-]?\d\w*")


def read_text(path: Path, most_bytes: int, otherwise: str = "") -> str:
    """Read a file of UTF-8 text, with or without a byte order mark.

    Raises:
        MalformedError: It has more bytes, or is not UTF-8; the message ends a sentence about the file.
        OSError: It cannot be read.
    """
    with path.open("rb") as file:
        content = file.read(most_bytes + 1)
    if len(content) > most_bytes:
        raise MalformedError(f"has more than {most_bytes:,} bytes{otherwise and f'; {otherwise}'}")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise MalformedError(f"is not text in UTF-8 (byte {error.start})") from error


def parse_toml(text: str) -> dict[str, Any]:
    """Parse TOML; raise `MalformedError`, with the line, also for deep nesting and long numbers."""
    _check_toml(text)
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise MalformedError(str(error)) from error


def _check_toml(text: str) -> None:
    """Check the depth of brackets, the parts of keys with dots, and the length of numbers."""
    depth = dots = 0
    for token in _TOML_TOKEN.finditer(text):
        other = token["other"]
        depth = max(0, depth + _STEPS.get(token[0], 0))
        if other == ".":
            dots += 1
        elif other is not None:
            dots = 0
        if depth > DEEPEST or dots >= DEEPEST:
            raise MalformedError(f"line {_line(text, token.start())}: {TOO_DEEP}")
        if _is_too_long(token["word"]):
            raise MalformedError(f"line {_line(text, token.start())}: {too_long(token['word'])}")


def parse_json(text: str, members: Callable[[list[tuple[str, Any]]], Any] | None = None) -> Any:
    """Parse JSON; raise `MalformedError`, also for deep nesting, long numbers and half surrogates."""
    depth = 0
    for token in _JSON_TOKEN.finditer(text):
        if token[1]:
            depth += _STEPS[token[1]]
            if depth > DEEPEST:
                raise MalformedError(f"line {_line(text, token.start())}: {TOO_DEEP}")

    def whole(number: str) -> int:
        if _is_too_long(number):
            raise MalformedError(f"line {_line(text, text.find(number))}: {too_long(number)}")
        value = int(number)
        if not -(2**63) <= value < 2**64:
            raise MalformedError(f"line {_line(text, text.find(number))}: {number} does not fit into 64 bits")
        return value

    for escapes in _SURROGATES.finditer(text):
        if not _PAIRS.fullmatch(escapes[1]):
            raise MalformedError(f"line {_line(text, escapes.start(1))}: half of a surrogate pair in a text")
    try:
        return json.loads(text, object_pairs_hook=members, parse_int=whole)
    except (ValueError, RecursionError) as error:
        raise MalformedError(str(error)) from error


def too_long(number: str) -> str:
    """Say that a number has too many characters."""
    return f"a number of {len(number):,} characters is too long"


def _is_too_long(word: str | None) -> bool:
    return word is not None and len(word) > LONGEST_NUMBER and _NUMBER.fullmatch(word) is not None


def _line(text: str, position: int) -> int:
    return text.count("\n", 0, position) + 1
