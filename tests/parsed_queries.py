"""The queries of reports, parsed once for all processes that are forked from one."""

from __future__ import annotations

from pathlib import Path
from unittest import mock

import duckdb

from reporter.log import sql_files

SQL = Path(__file__).parents[1] / "reporter" / "sql"


def parse_queries() -> None:
    """Parse the files of `reporter/sql`: a quarter of the CPU time of a small report in a new process."""
    # The default connection has threads, which a fork would lose.
    with (
        duckdb.connect(config={"threads": 1}) as connection,
        mock.patch("duckdb.extract_statements", connection.extract_statements),
    ):
        for path in SQL.rglob("*.sql"):
            name = path.relative_to(SQL).with_suffix("").as_posix()
            for temporary in (False, True):
                sql_files._statements(name, temporary=temporary)
