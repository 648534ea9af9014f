"""The queries of reports, parsed once for all processes that are forked from one."""

from __future__ import annotations

from pathlib import Path

import duckdb

from reporter.log import sql_files
from reporter.log.tables import SAMPLE_VIEWS

SQL = Path(__file__).parents[1] / "reporter" / "sql"


def parse_queries() -> None:
    """Parse the files of `reporter/sql`: a quarter of the CPU time of a small report in a new process."""
    # Threads would be lost in a fork.
    with duckdb.connect(config={"threads": 1}) as connection:
        for path in SQL.rglob("*.sql"):
            name = path.relative_to(SQL).with_suffix("").as_posix()
            sql_files.statements(connection, name, temporary=None)
        for name, kind in SAMPLE_VIEWS.items():
            sql_files.statements(connection, name, temporary=kind)
