"""Values of other programs' JSON and CSV files with their places: an error names file, and key or line."""

from __future__ import annotations

import csv
import math
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final, TypeVar, overload

from lazy_dataclasses import dataclass
from workloads.documents import parse_json, read_text
from workloads.errors import MalformedError, SourceError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

MOST_BYTES: Final = 512 * 1024 * 1024
MOST_NUMBER: Final = 1e30
"""Sums of such numbers are finite."""

_LONGEST: Final = 60

_Value = TypeVar("_Value")
_NAMES: Final = {str: "a text", bool: "true or false", dict: "an object", list: "a list"}


@dataclass(frozen=True, slots=True)
class Fields:
    """An object of a JSON file.

    Attributes:
        place: The keys that lead to it: `results[3]`; empty for the whole file.
    """

    path: Path
    place: str
    values: dict[str, Any]

    def text(self, key: str) -> str:
        """A text that is not empty."""
        text = self._required(key, self.optional_text(key))
        if not text:
            raise self.error(key, "is empty")
        return text

    def optional_text(self, key: str) -> str | None:
        """A text; None where there is none."""
        return self._of(key, str)

    def flag(self, key: str) -> bool | None:
        """A truth value; None where there is none."""
        return self._of(key, bool)

    def number(self, key: str) -> float:
        """A finite number."""
        return self._required(key, self.optional_number(key))

    def optional_number(self, key: str) -> float | None:
        """A finite number; None where there is none."""
        value = self.values.get(key)
        if value is None:
            return None
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        if not (is_number and abs(value) <= MOST_NUMBER):
            raise self.wrong(key, "a finite number", value)
        return float(value)

    def count(self, key: str) -> int | None:
        """A whole number that is not negative; None where there is none."""
        number = self.optional_number(key)
        if number is None:
            return None
        if number < 0 or not number.is_integer():
            raise self.wrong(key, "a whole number of 0 or more", self.values[key])
        return int(number)

    def moment(self, key: str) -> datetime | None:
        """A time in ISO 8601, in UTC without a zone; None if absent."""
        text = self.optional_text(key)
        if text is None:
            return None
        try:
            moment = datetime.fromisoformat(text)
        except ValueError as error:
            raise self.wrong(key, "a time in ISO 8601", text) from error
        return moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)

    def members(self, key: str) -> Fields | None:
        """An object; None where there is none."""
        values = self._of(key, dict)
        return None if values is None else Fields(self.path, self._inside(key), values)

    def inside(self, key: str) -> Fields:
        """An object; an empty one where there is none."""
        return self.members(key) or Fields(self.path, self._inside(key), {})

    def list(self, key: str) -> Iterator[Fields]:
        """The objects of a list."""
        return objects(self.path, self._inside(key), self._required(key, self._of(key, list)))

    def error(self, key: str, message: str) -> MalformedError:
        """Make an error about the value of a key."""
        return MalformedError(f"{self.path}: {self._inside(key)} {message}")

    def wrong(self, key: str, expected: str, value: object) -> MalformedError:
        """Make an error about a value of the wrong kind."""
        return _wrong(self.path, self._inside(key), expected, value)

    @overload
    def _of(self, key: str, kind: type[dict[str, Any]]) -> dict[str, Any] | None: ...
    @overload
    def _of(self, key: str, kind: type[_Value]) -> _Value | None: ...
    def _of(self, key: str, kind: type[Any]) -> Any:
        value = self.values.get(key)
        if value is not None and not isinstance(value, kind):
            raise self.wrong(key, _NAMES[kind], value)
        return value

    def _required(self, key: str, value: _Value | None) -> _Value:
        if value is None:
            raise self.error(key, "is missing")
        return value

    def _inside(self, key: str) -> str:
        return f"{self.place}.{key}" if self.place else key


def read_fields(path: Path) -> Fields:
    """Read a file with one JSON object; see `read_json`."""
    value = read_json(path)
    if not isinstance(value, dict):
        raise _wrong(path, "the file", "an object", value)
    return Fields(path, "", value)


def read_json(path: Path) -> Any:
    """Read a JSON file, or raise `MalformedError`; see `text_of`."""
    text = text_of(path)
    try:
        return parse_json(text)
    except MalformedError as error:
        cut = "; the file may be cut off" if not text.rstrip().endswith(("}", "]")) else ""
        raise MalformedError(f"{path} is not JSON: {error}{cut}") from error


def text_of(path: Path) -> str:
    """Read a text file, or raise `SourceError`; `MalformedError` for a long one, or another encoding."""
    try:
        return read_text(path, MOST_BYTES)
    except MalformedError as error:
        raise MalformedError(f"{path} {error}") from error
    except OSError as error:
        raise SourceError(f"{path} cannot be read: {error.strerror}") from error


def objects(path: Path, place: str, values: list[Any]) -> Iterator[Fields]:
    """The objects of a list, or raise `MalformedError`."""
    for number, value in enumerate(values):
        here = f"{place}[{number}]"
        if not isinstance(value, dict):
            raise _wrong(path, here, "an object", value)
        yield Fields(path, here, value)


def seconds_between(start: datetime | None, end: datetime | None) -> float | None:
    """The time between two moments in s; None for a missing moment or a wrong order."""
    if start is None or end is None or end < start:
        return None
    return (end - start).total_seconds()


def _wrong(path: Path, place: str, expected: str, value: object) -> MalformedError:
    shown = repr(value)
    shown = shown if len(shown) <= _LONGEST else f"{shown[:_LONGEST]}…"
    return MalformedError(f"{path}: {place} must be {expected}, not {shown}")


@dataclass(frozen=True, slots=True)
class TableRow:
    """A row.

    Attributes:
        values: By column; empty texts where the file has nothing.
    """

    path: Path
    line: int
    values: Mapping[str, str | None]

    def text(self, column: str) -> str:
        """A text that is not empty."""
        text = self.values.get(column)
        if not text:
            raise self.error(f"{column} is empty")
        return text

    def number(self, column: str) -> float:
        """A finite number."""
        text = self.text(column)
        try:
            number = float(text)
        except ValueError:
            number = math.nan
        if not abs(number) <= MOST_NUMBER:
            raise self.error(f"{column} must be a finite number, not {text!r}")
        return number

    def optional_number(self, column: str) -> float | None:
        """A finite number; None where the file has nothing."""
        return self.number(column) if self.values.get(column) else None

    def error(self, message: str) -> MalformedError:
        """Make an error about the row."""
        return MalformedError(f"{self.path}:{self.line}: {message}")


def read_rows(path: Path, columns: Sequence[str], what: str) -> Iterator[TableRow]:
    """Read a CSV file with a heading, or raise `MalformedError`; see `text_of`."""
    rows = csv.DictReader(text_of(path).splitlines())
    if missing := [name for name in columns if name not in (rows.fieldnames or ())]:
        raise MalformedError(f"{path} is not {what}: no column {', '.join(missing)}")
    row = None
    for row in rows:
        yield TableRow(path, rows.line_num, row)
    if row is None:
        raise MalformedError(f"{path} has no rows")


def file_in(path: Path, name: str, what: str) -> Path:
    """The file that a path names, directly or by folder, or raise `SourceError`."""
    require_there(path)
    if path.is_file():
        return path
    if (path / name).is_file():
        return path / name
    raise SourceError(f"{path} is not {what}: no {name}")


def file_of(path: Path, what: str) -> Path:
    """The path of a file, or raise `SourceError` for a folder."""
    require_there(path)
    if path.is_dir():
        raise SourceError(f"{path} is a folder: name {what}")
    return path


def require_there(path: Path) -> None:
    """Raise `SourceError` for a path that does not exist."""
    if not path.exists():
        raise SourceError(f"{path} does not exist")
