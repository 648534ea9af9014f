"""The check that a log's values have the types of their columns, which SQLite does not enforce."""

from __future__ import annotations

import re
from contextlib import closing
from typing import TYPE_CHECKING, Final, Literal

from recorder import schema
from recorder.errors import LogError
from recorder.event import EventType

if TYPE_CHECKING:
    import sqlite3
    from pathlib import Path

_MOST_NAMED: Final = 3

_COLUMN: Final = re.compile(r"^\s+(\w+)\s+(INTEGER|TEXT|BLOB)( PRIMARY KEY| NOT NULL)?", re.MULTILINE)


def _is_wrong(column: str, kind: str, required: str) -> str:
    """SQL for whether a value has the wrong type: `typeof` reads no page of a long value."""
    wrong = f"typeof({column}) <> '{kind.lower()}'"
    return wrong if required else f"({column} IS NOT NULL AND {wrong})"


def _wrong_values(columns: str) -> tuple[str, str]:
    """SQL for whether a row has a value of a wrong type, and for the first such column."""
    conditions = {match[1]: _is_wrong(*match.groups("")) for match in _COLUMN.finditer(columns)}
    cases = " ".join(
        f"WHEN {condition} THEN '{column} is ' || typeof({column})"
        for column, condition in conditions.items()
    )
    return f"({' OR '.join(conditions.values())})", f"CASE {cases} END"


_WRONG_VALUES: Final = {
    table: _wrong_values(columns)
    for table, columns in re.findall(r"CREATE TABLE (\w+) \((.*?)^\)", schema.DDL, re.DOTALL | re.MULTILINE)
}

Checked = Literal["all", "session", "other tables"]
"""What is checked: each value, all but those of events of requests, all but those of events."""

_BUT_REQUESTS: Final = (
    f" AND code NOT BETWEEN {EventType.LOADGEN_ISSUE_CALLED.value} AND {EventType.RETRY.value}"
)


def require_types(
    connection: sqlite3.Connection, log: Path, *, after_seq: int = 0, of: Checked = "all"
) -> None:
    """Check the types of the values of a log.

    Raises:
        LogError: A value has the wrong type.
        sqlite3.Error: The file is damaged.
    """
    existing = {name for (name,) in connection.execute("SELECT name FROM sqlite_master")}
    for table in (table for table in _WRONG_VALUES if table in existing):
        condition, column = _WRONG_VALUES[table]
        name = f"'row of {table}'"
        if table == "events":
            if of == "other tables":
                continue
            name = "'event ' || seq"
            condition = f"seq > {after_seq:d}{_BUT_REQUESTS if of == 'session' else ''} AND {condition}"
        query = f"SELECT {name}, {column} FROM {table} WHERE {condition} LIMIT {_MOST_NAMED + 1}"  # noqa: S608 (constants)
        with closing(connection.execute(query)) as wrong_rows:
            damaged = [f"{row}: {what}" for row, what in wrong_rows]
        if damaged:
            named = ", ".join([*damaged[:_MOST_NAMED], *("…" for _ in damaged[_MOST_NAMED:])])
            raise LogError(
                f"{log}: the log is damaged, values of wrong types: {named}; to read the rest, delete these "
                "rows in a copy of the log"
            )
