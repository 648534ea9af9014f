"""One SQL query over the logs of several runs: each view is that of all of them, with a column `run`."""

from __future__ import annotations

import re
from contextlib import contextmanager
from typing import TYPE_CHECKING

from reporter.log.database import OF_THE_HEAD, open_head, open_log
from reporter.log.database_in_memory import empty_database
from reporter.log.query import VIEWS, QueryResult, answer_of
from reporter.log.tables import big_tables_in

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from duckdb import DuckDBPyConnection

RUN = "run"
"""The column that names the run, before those of docs/sql.md."""


def query_series(runs: Mapping[str, Path], sql: str) -> QueryResult:
    """Ask the logs of several runs, in DuckDB's SQL. It can neither read nor write any file.

    One log is open at a time, and of it only the views that the query names are copied; what does not fit
    into memory DuckDB keeps in a temporary file.

    Args:
        runs: Folders of runs, or logs, by what `run` says of each; at least one.
        sql: One or several statements over `VIEWS`; the last one answers.

    Raises:
        LogError: One is not a log that this version reads, or is damaged.
        QueryError: The SQL is wrong, or asks for more than there is room for.
    """
    views = _views_in(sql)
    with empty_database() as connection:
        for name, run in runs.items():
            with _opened(run, views) as log:
                for view in sorted(views):
                    _copy(log, connection, view, name)
        return answer_of(connection, sql)


@contextmanager
def _opened(run: Path, views: set[str]) -> Iterator[DuckDBPyConnection]:
    """A database with the views of one log."""
    if views <= OF_THE_HEAD:
        with open_head(run) as database:
            yield database
    else:
        with open_log(run, also=big_tables_in(" ".join(views))) as log:
            yield log.database


def _views_in(sql: str) -> set[str]:
    """The views that a query may be about: those whose names occur in it; all small ones where none does."""
    named = VIEWS.keys() & set(re.findall(r"\w+", sql.lower()))
    return set(named) or set(VIEWS.keys() - big_tables_in(" ".join(VIEWS)))


def _copy(log: DuckDBPyConnection, into: DuckDBPyConnection, view: str, name: str) -> None:
    """Add a view of one log to the table of the same name."""
    rows = log.sql(f"SELECT ? AS {RUN}, * FROM {view}", params=[name]).to_arrow_reader()  # noqa: S608 (a view)
    into.register("rows_of_a_run", rows)
    there = into.execute("SELECT 1 FROM duckdb_tables() WHERE table_name = ?", [view]).fetchone()
    into.execute(
        f"INSERT INTO {view} BY NAME FROM rows_of_a_run"
        if there
        else f"CREATE TABLE {view} AS FROM rows_of_a_run"
    )
    into.unregister("rows_of_a_run")
