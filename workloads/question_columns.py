"""The columns of a row besides the prompt: tags, a limit of output tokens, and a weight."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

from workloads.columns import cell
from workloads.errors import ColumnError
from workloads.sources import kind

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from workloads.sources import FileRow

_MOST_TOKENS: Final = 10**12
_NAMES: Final = {True: "true", False: "false"}


def read_tags(row: FileRow, columns: Sequence[str]) -> Mapping[str, str]:
    """The tags of a row as texts, without null ones; raise `ColumnError` for lists and objects."""
    tags = {}
    for column in columns:
        value, place = cell(row, column)
        if isinstance(value, dict | list):
            raise ColumnError(f"{place}: {kind(value)}, where the text or number of a tag should be")
        if value is not None:
            tags[column] = _NAMES[value] if isinstance(value, bool) else str(value)
    return tags


def most_tokens(row: FileRow, column: str | None) -> int | None:
    """The most output tokens of a row's question, None for no limit; or raise `ColumnError`."""
    if column is None:
        return None
    value, place = cell(row, column)
    if value is None or value == "":
        return None
    number = _number(value)
    if number is None or number != int(number) or not 1 <= number <= _MOST_TOKENS:
        raise ColumnError(f"{place}: {_shown(value)}, where a whole number of tokens, from 1 on, should be")
    return int(number)


def weight(row: FileRow, column: str) -> float:
    """How often a row's question is asked relative to the others, or raise `ColumnError`."""
    value, place = cell(row, column)
    number = _number(value)
    if number is None or number < 0:
        raise ColumnError(f"{place}: {_shown(value)}, where a weight should be: a number from 0 on")
    return number


def require_some(weights: Sequence[float], name: str, column: str) -> None:
    """Raise `ColumnError` if nothing has a weight, or all together too much."""
    if not 0 < sum(weights) < math.inf:
        raise ColumnError(
            f"{name}, column {column!r}: the weights add up to {sum(weights):g}, so that none can be drawn"
        )


def _shown(value: object) -> str:
    return repr(value) if type(value) in (int, float, str) else kind(value)


def _number(value: object) -> float | None:
    """A finite number, also in the text of a CSV cell."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None
