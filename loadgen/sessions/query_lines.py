"""The rows of a query as lines of CSV and JSON."""

from __future__ import annotations

import csv
import json
import math
from dataclasses import replace
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

    from reporter.log.query import QueryResult


def csv_lines(answer: QueryResult, *, raw: bool, clean: bool) -> Iterator[str]:
    """The rows as CSV, the names of the columns first.

    Args:
        answer: The rows.
        raw: Whether texts are left as they are that a spreadsheet would take for formulas.
        clean: Whether characters that control a terminal are replaced; not with `raw`.
    """
    if not raw:
        answer = _harmless(answer, clean=clean)
    lines: list[str] = []
    # With its own line ends, Python quotes texts that hold either half of them.
    writer = csv.writer(SimpleNamespace(write=lambda row: lines.append(row.removesuffix("\r\n") + "\n")))
    for row in (answer.columns, *answer.rows):
        writer.writerow([_cell(value) for value in row])
        yield lines.pop()


def json_lines(answer: QueryResult) -> Iterator[str]:
    """The rows as JSON objects, one a line."""
    from reporter.render.json import printable

    # DuckDB has integers of 128 bits: the standard library writes them, quicker encoders do not.
    for row in answer.rows:
        plain = {name: _plain(value) for name, value in zip(answer.columns, row, strict=True)}
        try:
            line = json.dumps(plain, default=str, ensure_ascii=False)
        except TypeError:
            # A map may have keys that JSON does not know.
            line = json.dumps({name: str(value) for name, value in plain.items()}, ensure_ascii=False)
        yield printable(line) + "\n"


def _harmless(answer: QueryResult, *, clean: bool) -> QueryResult:
    """What any program can open: no text in it is a formula, and none steers a terminal."""
    from reporter.render.console_page import clean as cleaned
    from reporter.render.csv_text import no_formula

    def harmless(value: Any) -> Any:
        if not isinstance(value, str):
            return value
        return cleaned(no_formula(value)) if clean else no_formula(value)

    return replace(
        answer,
        columns=[harmless(name) for name in answer.columns],
        rows=[tuple(map(harmless, row)) for row in answer.rows],
    )


def _cell(value: Any) -> Any:
    """A value of CSV; true and false as DuckDB writes them."""
    return str(value).lower() if isinstance(value, bool) else value


def _plain(value: Any) -> Any:
    """A value that JSON has a word for: it has none for infinity and NaN."""
    return None if isinstance(value, float) and not math.isfinite(value) else value
