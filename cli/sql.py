"""`loadgen sql`: questions of one's own to the log."""

from __future__ import annotations

import math
import re
import sys
from dataclasses import replace
from types import SimpleNamespace
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal

import typer

from cli.report import Run

if TYPE_CHECKING:
    from collections.abc import Callable

    from reporter.query import Answer

MAX_ROWS: Final = 50
"""A table shows so many; csv and json everything."""

_PLAIN_WIDTH: Final = 200
_FORMULAS: Final = ("=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20")
_NUMBER: Final = re.compile(r"[+-]\d+(\.\d+)?([eE][+-]?\d+)?")


def sql(
    run: Run,
    query: Annotated[
        str, typer.Argument(help="DuckDB SQL; `-` reads it from standard input.", show_default=False)
    ],
    *,
    output: Annotated[
        Literal["table", "csv", "json"],
        typer.Option("--format", "-f", help="table, csv, or json (one object a line)."),
    ] = "table",
    json: Annotated[bool, typer.Option("--json", help="The same as --format json.")] = False,
    raw: Annotated[
        bool,
        typer.Option(
            "--raw",
            help="csv: leave texts as they are that a spreadsheet would take for formulas (docs/sql.md).",
        ),
    ] = False,
) -> None:
    """Ask the log by SQL.

    The views are described in docs/sql.md and listed by [bold]loadgen list views[/bold]; [bold]samples[/bold]
    has one row a request.

    [bold]Examples[/bold]

    loadgen sql RUN "select status, error, count(*) from samples group by all"

    loadgen sql RUN "select prompt_id, ttft_ms from samples order by ttft_ms desc limit 10" -f csv
    """
    from cli.pipe import end_with_the_reader
    from cli.series.series import require_run
    from reporter.query import query as ask

    end_with_the_reader()
    require_run(run)
    text = sys.stdin.read() if query == "-" else query
    answer = ask(run, text.encode(errors="replace").decode())
    csv = _csv_raw if raw else _csv
    writers: dict[str, Callable[[Answer], None]] = {"table": _table, "csv": csv, "json": _json}
    writers["json" if json else output](answer)


def _table(answer: Answer) -> None:
    """Print a table for the eye; what a model wrote cannot steer the terminal."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from reporter.render.page import clean

    table = Table(box=None, header_style="bold", pad_edge=False)
    for name in answer.columns:
        table.add_column(Text(clean(name)), overflow="fold")
    for row in answer.rows[:MAX_ROWS]:
        table.add_row(*(Text(clean(_shown(value))) for value in row))
    console = Console(width=None if sys.stdout.isatty() else _PLAIN_WIDTH)
    console.print(table)
    if len(answer.rows) > MAX_ROWS:
        console.print(
            f"… {len(answer.rows) - MAX_ROWS} more rows: all of them with --format csv", style="dim"
        )


def _csv(answer: Answer) -> None:
    """Write what any program can open: no text in it is a formula, and none steers a terminal."""
    from reporter.render.page import clean

    harmless = (lambda cell: clean(_no_formula(cell))) if sys.stdout.isatty() else _no_formula
    _csv_raw(
        replace(
            answer,
            columns=[harmless(name) for name in answer.columns],
            rows=[tuple(harmless(v) if isinstance(v, str) else v for v in row) for row in answer.rows],
        )
    )


def _csv_raw(answer: Answer) -> None:
    import csv

    # With its own line ends, Python quotes texts that hold either half of them.
    writer = csv.writer(SimpleNamespace(write=lambda row: sys.stdout.write(row.removesuffix("\r\n") + "\n")))
    writer.writerow(answer.columns)
    writer.writerows(answer.rows)


def _no_formula(text: str) -> str:
    """A text that a spreadsheet would calculate gets an apostrophe before it; a number stays one.

    The characters are those of OWASP's page on CSV injection.
    """
    return f"'{text}" if text.startswith(_FORMULAS) and not _NUMBER.fullmatch(text) else text


def _json(answer: Answer) -> None:
    import json

    from reporter.render.json import printable

    # DuckDB has integers of 128 bits: the standard library writes them, quicker encoders do not.
    for row in answer.rows:
        plain = {name: _plain(value) for name, value in zip(answer.columns, row, strict=True)}
        try:
            line = json.dumps(plain, default=str, ensure_ascii=False)
        except TypeError:
            # A map may have keys that JSON does not know.
            line = json.dumps({name: str(value) for name, value in plain.items()}, ensure_ascii=False)
        sys.stdout.write(printable(line) + "\n")


def _plain(value: Any) -> Any:
    """A value that JSON has a word for: it has none for infinity and NaN."""
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _shown(value: Any) -> str:
    if value is None:
        return ""
    return f"{value:.6g}" if isinstance(value, float) else str(value)
