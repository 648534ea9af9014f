"""The report as `report.json`: the Report key by key, in declaration order."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Any, Final

import orjson

if TYPE_CHECKING:
    from reporter.report import Report

DECIMALS: Final = 6
"""Of every fraction: nanoseconds of a figure in milliseconds, a millionth of a rate."""

SMALL: Final = 1e-3
DECIMALS_OF_SMALL: Final = 9
"""What a request costs is a small part of a dollar."""

_UNSAFE: Final = re.compile("[\x7f-\x9f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]")
"""What JSON allows as it is, but what moves the cursor or turns the text round where it is printed."""


def printable(json: str) -> str:
    """The JSON text, with escapes for control characters of terminals."""
    return _UNSAFE.sub(lambda char: f"\\u{ord(char[0]):04x}", json)


def render(report: Report, *, indented: bool = True) -> str:
    """The report as JSON, two spaces a level or in one line. A figure that is not finite is null."""
    whole = orjson.dumps(_plain(report.to_dict()), option=orjson.OPT_INDENT_2 if indented else None)
    return printable(whole.decode()) + "\n"


def _plain(value: Any) -> Any:
    match value:
        case dict():
            return {_plain(key): _plain(held) for key, held in value.items()}
        case list() | tuple():
            return [_plain(held) for held in value]
        case float():
            return rounded(value) if math.isfinite(value) else None
        case str():
            return value.encode(errors="replace").decode()  # a lone surrogate has no UTF-8
        case _:
            return value


def rounded(value: float) -> float:
    """A fraction as files have it."""
    return round(value, DECIMALS_OF_SMALL if abs(value) < SMALL else DECIMALS)
