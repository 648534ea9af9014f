"""Typed cells of benchmark rows: texts, lists of texts, letters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from workloads.errors import ColumnError
from workloads.sources import kind

if TYPE_CHECKING:
    from collections.abc import Sequence

    from workloads.sources import FileRow


def text(row: FileRow, column: str) -> str:
    """A text that is not empty; raise `ColumnError` for anything else."""
    value = row[column]
    if not isinstance(value, str):
        raise _odd(row, column, value, "a text")
    if not value.strip():
        raise ColumnError(f"{row.place}, column {column!r}: empty, where a text should be")
    return value


def texts(row: FileRow, column: str, *, least: int = 1, limit: int | None = None) -> Sequence[str]:
    """A list of `least` to `limit` texts; raise `ColumnError` for anything else."""
    value = row[column]
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise _odd(row, column, value, "a list of texts")
    if len(value) < least or (limit is not None and len(value) > limit):
        wanted = (
            str(least) if least == limit else f"{least} or more" if limit is None else f"{least} to {limit}"
        )
        raise ColumnError(f"{row.place}, column {column!r}: {len(value)} texts, where {wanted} should be")
    return value


def letter(row: FileRow, column: str, letters: str) -> str:
    """One of some letters; raise `ColumnError` for anything else."""
    value = row[column]
    if not isinstance(value, str) or len(value) != 1 or value not in letters:
        raise ColumnError(
            f"{row.place}, column {column!r}: {value!r}, where one of the letters {letters} should be"
        )
    return value


def whole(row: FileRow, column: str, *, least: int = 0) -> int:
    """A whole number of at least `least`, also as text; raise `ColumnError` for anything else."""
    value = row[column]
    try:
        number = int(value)
    except (TypeError, ValueError, OverflowError) as error:
        raise _odd(row, column, value, "a whole number") from error
    if isinstance(value, bool) or number != float(value) or number < least:
        raise ColumnError(
            f"{row.place}, column {column!r}: {value!r}, where a whole number from {least} on should be"
        )
    return number


def tag(row: FileRow, column: str) -> str:
    """A grouping value, a text or a number, as text; raise `ColumnError` for anything else."""
    value = row[column]
    if not isinstance(value, str | int | float):
        raise _odd(row, column, value, "a text or a number")
    return str(value)


def _odd(row: FileRow, column: str, value: Any, wanted: str) -> ColumnError:
    return ColumnError(f"{row.place}, column {column!r}: {kind(value)}, where {wanted} should be")
