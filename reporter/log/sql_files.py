"""The files of `reporter/sql/`: their texts, and their execution."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

from reporter.log.event_codes import with_event_codes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from duckdb import DuckDBPyConnection, Statement


@cache
def sql_file(name: str) -> str:
    """The text of `reporter/sql/NAME.sql`, with the codes of events in place of their names."""
    return with_event_codes((files("reporter") / "sql" / f"{name}.sql").read_text(encoding="utf-8"))


def execute_file(connection: DuckDBPyConnection, name: str) -> DuckDBPyConnection:
    """Execute `reporter/sql/NAME.sql`, parsed once; what is returned has the rows of its last statement."""
    return [connection.execute(statement) for statement in _statements(name)][-1]


@cache
def _statements(name: str) -> Sequence[Statement]:
    import duckdb

    return duckdb.extract_statements(sql_file(name))
