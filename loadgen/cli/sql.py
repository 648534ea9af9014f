"""`loadgen sql`: queries of the log."""

from __future__ import annotations

import math
import re
import sys
from dataclasses import replace
from types import SimpleNamespace
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal

from loadgen.sessions.settings.formats import Json
from loadgen.sessions.settings.option import Argument, Option
from loadgen.sessions.settings.run_argument import RunOrSeries

if TYPE_CHECKING:
    from pathlib import Path

    from reporter.log.query import QueryResult

_FORMULAS: Final = ("=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20")
_NUMBER: Final = re.compile(r"[+-]\d+(\.\d+)?([eE][+-]?\d+)?")


def sql(
    run: RunOrSeries,
    query: Annotated[str, Argument(help="DuckDB SQL; `-` reads it from standard input.", show_default=False)],
    *,
    output: Annotated[
        Literal["table", "csv", "json"],
        Option("--format -f", help="table, csv, or json (one object a line)."),
    ] = "table",
    json: Json = False,
    expanded: Annotated[
        bool | None,
        Option(
            "--expanded/--no-expanded -x",
            help="Table: one column a line. The default on a terminal that is too narrow for a table.",
            show_default=False,
        ),
    ] = None,
    raw: Annotated[
        bool,
        Option(
            "--raw",
            help="csv: leave texts as they are that a spreadsheet would take for formulas (docs/sql.md).",
        ),
    ] = False,
) -> None:
    """Query the log with SQL.

    The views are described in docs/sql.md and listed by [bold]loadgen list views[/bold]; [bold]samples[/bold]
    has one row per request. Of a sweep, a search or a suite every view is that of all its runs, with a column
    [bold]run[/bold]. Piped, a table has every row and column, each row on one line.

    [bold]Examples[/bold]

    loadgen sql RUN "select status, error, count(*) from samples group by all"

    loadgen sql SWEEP "select run, median(ttft_ms) from samples group by run order by run"

    loadgen sql RUN "select prompt_id, ttft_ms from samples order by ttft_ms desc limit 10" -f csv
    """
    from loadgen.cli.terminal.pipe import end_with_the_reader

    end_with_the_reader()
    text = sys.stdin.read() if query == "-" else query
    answer = _ask(run, text.encode(errors="replace").decode())
    if json or output == "json":
        _json(answer)
    elif output == "csv":
        (_csv_raw if raw else _csv)(answer)
    else:
        _print_table(answer, expanded=expanded)


def _ask(run: Path, text: str) -> QueryResult:
    """Ask the log of a run, or those of all runs of a series together."""
    from loadgen.sessions.series.series import is_series, runs_in
    from reporter.log.query import query
    from reporter.log.query_series import query_series

    return query_series(runs_in(run), text) if is_series(run) else query(run, text)


def _print_table(answer: QueryResult, *, expanded: bool | None) -> None:
    """Print what fits on a terminal; everything, unbroken, elsewhere."""
    from loadgen.cli.terminal.query_table import lines, show

    if not answer.columns:
        return
    if sys.stdout.isatty():
        from rich.console import Console

        show(answer, Console(), expanded=expanded)
        return
    for line in lines(answer, expanded=bool(expanded)):
        sys.stdout.write(f"{line}\n")


def _csv(answer: QueryResult) -> None:
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


def _csv_raw(answer: QueryResult) -> None:
    import csv

    # With its own line ends, Python quotes texts that hold either half of them.
    writer = csv.writer(SimpleNamespace(write=lambda row: sys.stdout.write(row.removesuffix("\r\n") + "\n")))
    writer.writerow(answer.columns)
    writer.writerows([_cell(value) for value in row] for row in answer.rows)


def _cell(value: Any) -> Any:
    """A value of CSV; true and false as DuckDB writes them."""
    return str(value).lower() if isinstance(value, bool) else value


def _no_formula(text: str) -> str:
    """A text that a spreadsheet would calculate gets an apostrophe before it; a number stays one.

    The characters are those of OWASP's page on CSV injection.
    """
    return f"'{text}" if text.startswith(_FORMULAS) and not _NUMBER.fullmatch(text) else text


def _json(answer: QueryResult) -> None:
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
