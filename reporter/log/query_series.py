"""One SQL query over the logs of several runs: each view has the rows of all runs, with a column `run`."""

from __future__ import annotations

import re
from collections import deque
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from typing import TYPE_CHECKING

from recorder.store import log_path
from reporter.errors import blaming
from reporter.log.database import make_views
from reporter.log.database_in_memory import THREADS, empty_database
from reporter.log.query import VIEWS, QueryResult, answer_of, set_findings
from reporter.log.tables import big_tables_in

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    from duckdb import DuckDBPyConnection

    from reporter.report import Finding

RUN = "run"
"""The column that names the run, before those of docs/sql.md."""


def query_series(
    runs: Mapping[str, Path],
    sql: str,
    findings_of: Callable[[Path], Sequence[Finding] | None] | None = None,
) -> QueryResult:
    """Query the logs of several runs, in DuckDB's SQL, without access to any file.

    Of each log only the views that the query names are made, and few logs are open at a time; what does not
    fit into memory DuckDB keeps in a temporary file.

    Args:
        runs: Folders of runs, or logs, by what `run` says of each; at least one.
        sql: One or several statements over `VIEWS`; the last one answers.
        findings_of: Gives the findings of a run's report where the SQL asks for them.

    Raises:
        LogError: One is not a log that this version reads, or is damaged.
        QueryError: The SQL is wrong, or asks for more than there is room for.
    """
    views = _views_in(sql)
    with empty_database() as connection:
        put = "CREATE TABLE memory.main.{view} AS"
        for (name, run), log in _opened(connection, runs, views):
            findings = None if findings_of is None else findings_of(run)
            if findings is not None:
                set_findings(log, findings)
            with blaming(log_path(run)):
                for view in sorted(views):
                    log.execute(f"{put.format(view=view)} SELECT ? AS {RUN}, * FROM {view}", [name])  # noqa: S608 (a view)
            put = "INSERT INTO memory.main.{view} BY NAME"
        return answer_of(connection, sql)


def _views_in(sql: str) -> set[str]:
    """The views that a query may use: all names in the query; all small views without any."""
    named = VIEWS.keys() & set(re.findall(r"\w+", sql.lower()))
    return set(named) or set(VIEWS.keys() - big_tables_in(" ".join(VIEWS)))


def _opened(
    connection: DuckDBPyConnection, runs: Mapping[str, Path], views: set[str]
) -> Iterator[tuple[tuple[str, Path], DuckDBPyConnection]]:
    """Each run with a connection to a database of views; the next runs' are made meanwhile."""

    def load(number: int, run: Path) -> DuckDBPyConnection:
        log = connection.cursor()
        log.execute(f"ATTACH ':memory:' AS run_{number}; USE run_{number}")
        make_views(log, run, views)
        return log

    ahead = enumerate(runs.values())
    with ThreadPoolExecutor(THREADS) as pool:
        loading = deque(pool.submit(load, number, run) for number, run in islice(ahead, THREADS))
        for number, named in enumerate(runs.items()):
            with loading.popleft().result() as log:
                loading.extend(pool.submit(load, *following) for following in islice(ahead, 1))
                yield named, log
                log.execute(f"USE memory; DETACH run_{number}")
