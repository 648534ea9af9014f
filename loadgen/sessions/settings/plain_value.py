"""Values of options that need no validator.

The library that validates the values of a command line takes a fifth of the CPU time of a program's start. A
value that is plainly one of its option, such as `16` for a whole number, is the same without it.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, get_args, get_origin

if TYPE_CHECKING:
    from collections.abc import Callable

UNDECIDED: Final = object()
"""Not plainly a value: a validator has to say what it is, or what is wrong with it."""

_WHOLE: Final = re.compile(r"-?[0-9]{1,15}")
_NUMBER: Final = re.compile(r"-?[0-9]{1,15}(\.[0-9]{1,15})?")


def plain_value(
    value: Any,
    kind: Any,
    parser: Callable[[Any], Any] | None = None,
    least: float | None = None,
    greatest: float | None = None,
) -> Any:
    """The value of an option, from a text of the command line or the option's default.

    Args:
        value: The text, a list of them, or the default.
        kind: The type of the option, or the list type of one that is given several times.
        parser: Reads its text.
        least: The lowest number that is taken.
        greatest: The highest.

    Returns:
        The value; UNDECIDED where the text is unusual or wrong.

    Raises:
        Exception: What the parser raises, except ValueError and AssertionError.
    """
    if get_origin(kind) is list:
        (kind_of_one,) = get_args(kind)
        items = value if isinstance(value, list | tuple) else [value]
        values = [plain_value(item, kind_of_one, parser, least, greatest) for item in items]
        return UNDECIDED if any(item is UNDECIDED for item in values) else values
    if parser is not None:
        return _parsed(value, parser)
    if kind is int or kind is float:
        return _number(value, kind, least, greatest)
    if get_origin(kind) is Literal:
        return value if isinstance(value, str) and value in get_args(kind) else UNDECIDED
    if kind is Path:
        return _path(value)
    return value if kind in {str, bool} and type(value) is kind else UNDECIDED


def _parsed(value: Any, parser: Callable[[Any], Any]) -> Any:
    try:
        return parser(value)
    except (ValueError, AssertionError):
        return UNDECIDED


def _number(value: Any, kind: type[int | float], least: float | None, greatest: float | None) -> Any:
    if isinstance(value, str):
        if not (_WHOLE if kind is int else _NUMBER).fullmatch(value):
            return UNDECIDED
        value = kind(value)
    if not isinstance(value, kind) or isinstance(value, bool):
        return UNDECIDED
    within = (least is None or value >= least) and (greatest is None or value <= greatest)
    return value if within else UNDECIDED


def _path(value: Any) -> Any:
    if not isinstance(value, str | Path):
        return UNDECIDED
    # A path that exists but cannot be read is wrong.
    path = Path(value)
    return path if os.access(path, os.R_OK) or not os.access(path, os.F_OK) else UNDECIDED
