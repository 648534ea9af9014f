"""Rows as CSV for spreadsheets, with cells that no spreadsheet takes for a formula."""

from __future__ import annotations

import csv
import re
from io import StringIO
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

_FORMULAS: Final = ("=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20")
_NUMBER: Final = re.compile(r"[+-]\d+(\.\d+)?([eE][+-]?\d+)?")


def as_csv(rows: Iterable[Mapping[str, Any]]) -> str:
    """The rows, below the names of all columns, in the order of first occurrence."""
    table = [{name: _inert(value) for name, value in row.items()} for row in rows]
    text = StringIO(newline="")
    writer = csv.DictWriter(text, list(dict.fromkeys(name for row in table for name in row)))
    writer.writeheader()
    writer.writerows(table)
    return text.getvalue()


def no_formula(text: str) -> str:
    """A text with an apostrophe in front if a spreadsheet would calculate the text; numbers stay.

    The characters are those of OWASP's page on CSV injection.
    """
    return f"'{text}" if text.startswith(_FORMULAS) and not _NUMBER.fullmatch(text) else text


def _inert(value: Any) -> Any:
    """A text without a formula or a lone surrogate. True and false are written as in DuckDB."""
    if isinstance(value, bool):
        return str(value).lower()
    return no_formula(value.encode(errors="replace").decode()) if isinstance(value, str) else value
