"""`loadgen sql`: queries of the log."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated, Literal

from loadgen.sessions.settings.format_options import Json
from loadgen.sessions.settings.option import Argument, Option
from loadgen.sessions.settings.run_argument import Runs

if TYPE_CHECKING:
    from reporter.log.query import QueryResult


def sql(
    runs: Runs,
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
            help="csv: keep texts unchanged that a spreadsheet would run as formulas (docs/sql.md).",
        ),
    ] = False,
) -> None:
    """Query the log with SQL.

    The views are described in docs/sql.md and listed by [bold]loadgen list views[/bold]; [bold]samples[/bold]
    has one row per request. Of several runs or a series every view is that of all runs, with a
    column [bold]run[/bold]. Piped, a table has every row and column, each row on one line.

    [bold]Examples[/bold]

    loadgen sql RUN "select status, error, count(*) from samples group by all"

    loadgen sql SWEEP "select run, median(ttft_ms) from samples group by run order by run"

    loadgen sql 'runs/*' "select run, ended, settings ->> 'model' from session"

    loadgen sql RUN "select prompt_id, ttft_ms from samples order by ttft_ms desc limit 10" -f csv
    """
    from loadgen.cli.terminal.streams import end_with_the_reader
    from loadgen.sessions.sql_query import ask, csv_lines, json_lines

    end_with_the_reader()
    text = sys.stdin.read() if query == "-" else query
    answer = ask(runs, text.encode(errors="replace").decode())
    if json or output == "json":
        sys.stdout.writelines(json_lines(answer))
    elif output == "csv":
        sys.stdout.writelines(csv_lines(answer, raw=raw, clean=sys.stdout.isatty()))
    else:
        _print_table(answer, expanded=expanded)


def _print_table(answer: QueryResult, *, expanded: bool | None) -> None:
    """Print as much as fits on a terminal; everything, unwrapped, elsewhere."""
    from loadgen.cli.terminal.query_table import lines, show

    if not answer.columns:
        return
    if sys.stdout.isatty():
        from rich.console import Console

        show(answer, Console(), expanded=expanded)
        return
    for line in lines(answer, expanded=bool(expanded)):
        sys.stdout.write(f"{line}\n")
