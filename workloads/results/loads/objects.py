"""Reading of JSON objects from one file, one a line or one in all, and of lists with an entry per request."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from workloads.documents import parse_json
from workloads.errors import MalformedError
from workloads.results.fields import Fields, read_fields, text_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path


def read_objects(path: Path) -> list[Fields]:
    """Read the objects of a file: JSON lines, or one object over several lines.

    Raises:
        SourceError: The file does not exist, or cannot be read.
        MalformedError: The file is not JSON, or has no object.
    """
    lines = [line for line in text_of(path).splitlines() if line.strip()]
    if not lines or not lines[0].rstrip().endswith("}"):
        return [read_fields(path)]
    return [_object(path, number, line) for number, line in enumerate(lines, 1)]


def _object(path: Path, number: int, line: str) -> Fields:
    try:
        value = parse_json(line)
    except MalformedError as error:
        raise MalformedError(f"{path}: line {number} is not JSON: {error}") from error
    if not isinstance(value, dict):
        raise MalformedError(f"{path}: line {number} must be an object, not {type(value).__name__}")
    return Fields(path, f"line {number}", value)


def finite(value: object) -> float | None:
    """A number, if finite: programs write NaN for figures without values."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) if is_number and math.isfinite(value) else None  # type: ignore[arg-type]


def whole(value: object) -> int | None:
    """A count, if not negative."""
    number = finite(value)
    return int(number) if number is not None and number >= 0 else None


def column(record: Fields, name: str, length: int | None = None) -> Sequence[Any] | None:
    """A list with one entry per request; None if absent.

    Raises:
        MalformedError: The value is not a list, or has another length.
    """
    values = record.values.get(name)
    if values is None:
        return None
    if not isinstance(values, list):
        raise record.wrong(name, "a list", values)
    if length is not None and len(values) != length:
        raise record.error(name, f"has {len(values):,} entries, and other lists have {length:,}")
    return values


def times(record: Fields, place: str, values: object) -> list[float]:
    """Durations that are not negative.

    Raises:
        MalformedError: A value is not.
    """
    if not isinstance(values, list):
        raise record.wrong(place, "a list of seconds", values)
    return list(_times(record, place, values))


def _times(record: Fields, place: str, values: list[Any]) -> Iterator[float]:
    for value in values:
        number = finite(value)
        if number is None or number < 0:
            raise record.wrong(place, "a list of seconds, none below 0", value)
        yield number


def without_none(values: dict[str, Any]) -> dict[str, Any]:
    """The members that are not None."""
    return {name: value for name, value in values.items() if value is not None}
