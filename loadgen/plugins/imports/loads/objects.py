"""Reading of JSON objects from one file, one a line or one in all, and of lists with an entry per request."""

from __future__ import annotations

import math
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final

import orjson

from loadgen.plugins.imports.results.fields import Fields, read_fields, text_of
from workloads.documents import parse_json
from workloads.errors import MalformedError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path


MOST_S: Final = 10**8
"""The longest time that a file can mean: three years."""

_MOST_TOKENS: Final = 2**53


def read_objects(path: Path) -> list[Fields]:
    """Read the objects of a file, one a line or one in all; see `read_json`."""
    lines = [line for line in text_of(path).splitlines() if line.strip()]
    if not lines or not lines[0].rstrip().endswith("}"):
        return [read_object(path)]
    return [_object(path, number, line) for number, line in enumerate(lines, 1)]


def _object(path: Path, number: int, line: str) -> Fields:
    try:
        value = parse_json(line)
    except MalformedError as error:
        raise MalformedError(f"{path}: line {number} is not JSON: {error}") from error
    if not isinstance(value, dict):
        raise MalformedError(f"{path}: line {number} must be an object, not {type(value).__name__}")
    return _storable(Fields(path, f"line {number}", value))


def read_object(path: Path) -> Fields:
    """Read a file with one object; see `read_objects`."""
    return _storable(read_fields(path))


def _storable(record: Fields) -> Fields:
    """Refuse values that no log can hold: half of a UTF-16 pair, and integers beyond 64 bits."""
    try:
        orjson.dumps(record.values)
    except TypeError as error:
        raise MalformedError(
            f"{record.path}: {record.place or 'the file'} cannot be stored: {error}"
        ) from None
    return record


def finite(value: object) -> float | None:
    """A number, if finite: programs write NaN for figures without values."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) if is_number and math.isfinite(value) else None  # type: ignore[arg-type]


def moment(seconds: float | None) -> datetime | None:
    """A time since the epoch; None for a time outside the calendar."""
    try:
        return None if seconds is None else datetime.fromtimestamp(seconds, UTC)
    except (ValueError, OverflowError, OSError):
        return None


def whole(value: object) -> int | None:
    """A count, if not negative or absurd."""
    number = finite(value)
    return int(number) if number is not None and 0 <= number <= _MOST_TOKENS else None


def column(record: Fields, name: str, length: int | None = None) -> Sequence[Any] | None:
    """A list with one entry per request, or raise `MalformedError`; None if absent."""
    values = record.values.get(name)
    if values is None:
        return None
    if not isinstance(values, list):
        raise record.wrong(name, "a list", values)
    if length is not None and len(values) != length:
        raise record.error(name, f"has {len(values):,} entries, and other lists have {length:,}")
    return values


def times(record: Fields, place: str, values: object) -> list[float]:
    """Durations that are not negative, or raise `MalformedError`."""
    if not isinstance(values, list):
        raise record.wrong(place, "a list of seconds", values)
    return list(_times(record, place, values))


def _times(record: Fields, place: str, values: list[Any]) -> Iterator[float]:
    for value in values:
        number = finite(value)
        if number is None or not 0 <= number <= MOST_S:
            raise record.wrong(place, "a list of seconds, none below 0 or of years", value)
        yield number


def without_none(values: dict[str, Any]) -> dict[str, Any]:
    """The members that are not None."""
    return {name: value for name, value in values.items() if value is not None}
