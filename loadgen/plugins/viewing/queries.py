"""The SQL box: a query over a run, limited in time and rows."""

from __future__ import annotations

import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from loadgen.sessions.sql_query import findings_asked
from reporter.errors import QueryError
from reporter.log.database import open_log
from reporter.log.query import QueryResult, answer_of, set_findings
from reporter.log.tables import big_tables_in

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from duckdb import DuckDBPyConnection


MOST_ROWS: Final = 1_000
MOST_SECONDS: Final = 60.0
LONGEST: Final = 10_000
"""Characters of a value that are shown."""


def first_rows(run: Path, sql: str) -> QueryResult:
    """Ask a log for at most `MOST_ROWS` rows and one, which says that there are more.

    Raises:
        QueryError: The SQL is wrong, or takes more than `MOST_SECONDS`.
        LogError: The log cannot be read.
    """
    findings = findings_asked(run, sql)
    with open_log(run, also=big_tables_in(sql)) as log, _limited(log.database) as is_late:
        if findings is not None:
            set_findings(log.database, findings)
        try:
            return answer_of(log.database, sql, MOST_ROWS + 1, LONGEST)
        except QueryError as error:
            if is_late.is_set():
                raise QueryError(f"the query took more than {MOST_SECONDS:.0f} s: narrow it") from error
            raise


@contextmanager
def _limited(connection: DuckDBPyConnection) -> Iterator[threading.Event]:
    """Interrupt what the connection does after `MOST_SECONDS`; the event says that it was."""
    is_late = threading.Event()

    def interrupt() -> None:
        is_late.set()
        connection.interrupt()

    timer = threading.Timer(MOST_SECONDS, interrupt)
    timer.daemon = True
    timer.start()
    try:
        yield is_late
    finally:
        timer.cancel()
