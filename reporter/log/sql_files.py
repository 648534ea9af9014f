"""The files of `reporter/sql/`: texts and execution."""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Final

from reporter.log.event_codes import with_columns, with_event_codes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from duckdb import DuckDBPyConnection, Statement

_CREATE: Final = re.compile("CREATE (TABLE|VIEW)")

_PARSED: Final[dict[tuple[str, bool], Sequence[Statement]]] = {}
"""The statements of a file, as it is and with a temporary table: they belong to no connection."""


@cache
def sql_file(name: str) -> str:
    """The text of `reporter/sql/NAME.sql`, with event codes and columns of payloads in place of names."""
    text = (files("reporter") / "sql" / f"{name}.sql").read_text(encoding="utf-8")
    return with_columns(with_event_codes(text))


def execute_file(connection: DuckDBPyConnection, name: str, *, temporary: bool = False) -> DuckDBPyConnection:
    """Execute `reporter/sql/NAME.sql`, parsed once; the result has the rows of the last statement.

    Args:
        connection: A connection to an opened log, or to one that is being loaded.
        name: The file, without its ending.
        temporary: Make the table or view of the file a temporary table of this connection.
    """
    parsed = statements(connection, name, temporary=temporary)
    return [connection.execute(statement) for statement in parsed][-1]


def statements(connection: DuckDBPyConnection, name: str, *, temporary: bool) -> Sequence[Statement]:
    """The statements of a file, parsed by the first executing connection."""
    parsed = _PARSED.get((name, temporary))
    if parsed is None:
        sql = sql_file(name)
        sql = _CREATE.sub("CREATE TEMP TABLE", sql, count=1) if temporary else sql
        # Not by `duckdb.extract_statements`, which makes a database of its own.
        parsed = _PARSED[name, temporary] = connection.extract_statements(sql)
    return parsed
