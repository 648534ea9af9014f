"""The rows of a series as a table for spreadsheets."""

from __future__ import annotations

import csv
from io import StringIO
from typing import TYPE_CHECKING, Any

from loadgen.sessions.whole_file import write_whole

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path


def write_csv(path: Path, rows: Sequence[Mapping[str, Any]]) -> None:
    """Write the rows of a series (`series.rows.rows`) as CSV, whole or not at all: the axes first."""
    table = list(map(_flat, rows))
    text = StringIO(newline="")
    writer = csv.DictWriter(text, list(dict.fromkeys(name for row in table for name in row)))
    writer.writeheader()
    writer.writerows(table)
    write_whole(path, text.getvalue().encode())


def _flat(row: Mapping[str, Any]) -> dict[str, Any]:
    """A row of plain cells: a list in one cell, and of each score its value, its interval and n."""
    plain = {name: value for name, value in row.items() if name not in {"axes", "scores"}}
    cells = {
        name: "; ".join(map(str, value)) if isinstance(value, list) else value
        for name, value in {**row["axes"], **plain}.items()
    }
    for score in row.get("scores", ()):
        name = f"score.{score['name']}"
        cells |= {name: score["value"], f"{name}.low": score["low"], f"{name}.high": score["high"]}
        cells |= {f"{name}.n": score["n"], f"{name}.unscored": score["unscored"]}
    return cells
