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
    """The rows, below the names of all their columns, in the order in which they first occur."""
    table = [{name: _inert(value) for name, value in row.items()} for row in rows]
    text = StringIO(newline="")
    writer = csv.DictWriter(text, list(dict.fromkeys(name for row in table for name in row)))
    writer.writeheader()
    writer.writerows(table)
    return text.getvalue()


def no_formula(text: str) -> str:
    """A text that a spreadsheet would calculate gets an apostrophe before it; a number stays one.

    The characters are those of OWASP's page on CSV injection.
    """
    return f"'{text}" if text.startswith(_FORMULAS) and not _NUMBER.fullmatch(text) else text


def _inert(value: Any) -> Any:
    """A text without a formula; a lone surrogate has no UTF-8. True and false are as DuckDB writes them."""
    if isinstance(value, bool):
        return str(value).lower()
    return no_formula(value.encode(errors="replace").decode()) if isinstance(value, str) else value
