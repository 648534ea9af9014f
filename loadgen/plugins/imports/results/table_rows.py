"""Rows of other programs' CSV files, read with a place, so that an error names file, line and column."""

from __future__ import annotations

import csv
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from loadgen.plugins.imports.results.fields import MOST_NUMBER, text_of
from workloads.errors import MalformedError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path


@dataclass(frozen=True, slots=True)
class TableRow:
    """A row.

    Attributes:
        path: The file.
        line: Its line, from 1.
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
    """Read a CSV file with a heading.

    Args:
        path: The file.
        columns: What it must have.
        what: What it should be, for messages: `a report of SWE-fficiency`.

    Raises:
        SourceError: It does not exist, or cannot be read.
        MalformedError: A column is missing, or it has no rows.
    """
    rows = csv.DictReader(text_of(path).splitlines())
    if missing := [name for name in columns if name not in (rows.fieldnames or ())]:
        raise MalformedError(f"{path} is not {what}: no column {', '.join(missing)}")
    row = None
    for row in rows:
        yield TableRow(path, rows.line_num, row)
    if row is None:
        raise MalformedError(f"{path} has no rows")
