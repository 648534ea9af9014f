"""The text of SQL: files, conditions, and the tables that a query needs."""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Final, Literal, get_args

import orjson

from recorder import payloads
from recorder.event import EventType, KeyColumn
from recorder.finish_reasons import AnswerEnding

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from duckdb import DuckDBPyConnection, Statement

    from rulesets.evidence import Where

_EVENT: Final = re.compile(r"\bEventType\.(\w+)")
_ENDING: Final = re.compile(r"\bAnswerEnding\.(\w+)")
_COLUMNS: Final = re.compile(r"\bcolumns_of\(([\w, ]+)\)")
_MOMENTS: Final = re.compile(r"\bmoments_of\((\w+), (\w+(?:\(\w+\))?)\)")


def with_event_codes(sql: str) -> str:
    """The SQL with numbers for names such as `EventType.COMPLETE`, and lists for `AnswerEnding.LIMITED`.

    Raises:
        KeyError: No event, or no ending, has this name.
    """
    numbered = _EVENT.sub(lambda named: str(EventType[named[1]].value), sql)
    return _ENDING.sub(lambda named: str(AnswerEnding[named[1]].reasons), numbered)


def with_columns(sql: str) -> str:
    """The SQL with the columns of the payload types that it names.

    `columns_of(Issued)` is a structure for `from_json`, `columns_of(Issued, turn)` of these keys alone;
    `moments_of(Issued, BY)` replaces each moment by its sum with BY.

    Raises:
        AttributeError: No payload type has this name.
    """
    structured = _COLUMNS.sub(lambda named: _structure(named[1].split(", ")), sql)
    return _MOMENTS.sub(lambda named: _moments(named[1], named[2]), structured)


def columns(*types: str) -> dict[str, KeyColumn]:
    """The columns of payload types of `recorder.payloads`, by key."""
    hints = {key: hint for name in types for key, hint in getattr(payloads, name).__annotations__.items()}
    return {key: column for key, hint in hints.items() if (column := _column(hint)) is not None}


def _column(hint: Any) -> KeyColumn | None:
    parts = (part if isinstance(part, KeyColumn) else _column(part) for part in get_args(hint))
    return next((part for part in parts if part is not None), None)


def _structure(names: Collection[str]) -> str:
    keys = [name for name in names if name[0].islower()]
    made = columns(*(name for name in names if name not in keys))
    types = {key: column.sql for key, column in made.items() if key in keys or not keys}
    return f"'{orjson.dumps(types).decode()}'"


def _moments(payload: str, by: str) -> str:
    moments = (key for key, column in columns(payload).items() if column.kind == "MOMENT")
    return ", ".join(f"{key} + {by} AS {key}" for key in moments)


_CREATE: Final = re.compile("CREATE (TABLE|VIEW)")

Temporary = Literal["TABLE", "VIEW"]

_PARSED: Final[dict[tuple[str, Temporary | None], Sequence[Statement]]] = {}
"""The statements of a file, as it is and with a temporary table or view: they belong to no connection."""


@cache
def sql_file(name: str) -> str:
    """The text of `reporter/sql/NAME.sql`, with event codes and columns of payloads in place of names."""
    text = (files("reporter") / "sql" / f"{name}.sql").read_text(encoding="utf-8")
    return with_columns(with_event_codes(text))


def execute_file(
    connection: DuckDBPyConnection, name: str, *, temporary: Temporary | None = None
) -> DuckDBPyConnection:
    """Execute `reporter/sql/NAME.sql`, parsed once; the result has the rows of the last statement.

    Args:
        connection: A connection to an opened log, or to one that is being loaded.
        name: The file, without its ending.
        temporary: Make the table or view of the file a temporary one of this connection, of this kind.
    """
    parsed = statements(connection, name, temporary=temporary)
    return [connection.execute(statement) for statement in parsed][-1]


def statements(
    connection: DuckDBPyConnection, name: str, *, temporary: Temporary | None
) -> Sequence[Statement]:
    """The statements of a file, parsed by the first executing connection."""
    parsed = _PARSED.get((name, temporary))
    if parsed is None:
        sql = sql_file(name)
        sql = _CREATE.sub(f"CREATE TEMP {temporary}", sql, count=1) if temporary else sql
        # Not by `duckdb.extract_statements`, which makes its own database.
        parsed = _PARSED[name, temporary] = connection.extract_statements(sql)
    return parsed


_OWN: Final = {"endpoint": "endpoint", "turn": "turn::VARCHAR"}
"""The parts that every request has; a tag of such a name is called `tag:endpoint`."""


def condition(where: Where) -> str:
    """The SQL condition for the requests of a part; true for an empty part."""
    return " AND ".join(f"{_value(name)} = {quoted(value)}" for name, value in where) or "true"


def value_of_tag(tag: str) -> str:
    """The SQL expression for a request's value of a tag."""
    path = "/" + tag.replace("~", "~0").replace("/", "~1")
    return f"json_extract_string(tags, {quoted(path)})"


def quoted(text: str) -> str:
    """A text as a SQL literal."""
    return "'" + text.replace("'", "''") + "'"


def _value(name: str) -> str:
    return _OWN[name] if name in _OWN else value_of_tag(name.removeprefix("tag:"))


_COMMENT: Final = re.compile("--.*")

_MADE: Final = re.compile(r"\b(?:CREATE (?:OR REPLACE )?(?:TABLE|VIEW|MACRO)|UPDATE) (\w+)")
"""Tables, views and macros that are made, and tables that are completed."""

_READ: Final = re.compile(r"\b(?:FROM|JOIN)\s+(\w+)|\b(\w+)\(")
"""Tables and views, and macros that are called."""


_DEFINED: Final = re.compile(r"(?:\bWITH|\),)\s+(\w+) AS \(")
"""Subqueries with a name, which stand for no table of that name."""


def needed(names: Collection[str], files: Collection[str]) -> frozenset[str]:
    """The files that are needed.

    Args:
        names: Of tables and views.
        files: Those that there are; names that none of them makes are left out.
    """
    makers: dict[str, set[str]] = {}
    for file in files:
        for name in _MADE.findall(sql_file(file)):
            makers.setdefault(name, set()).add(file)
    needed: set[str] = set()
    open_names = set(names)
    while open_names:
        new = {file for name in open_names for file in makers.get(name, ())} - needed
        needed |= new
        open_names = {name for file in new for name in names_read(file)}
    return frozenset(needed)


def names_read(file: str) -> set[str]:
    """The names read by a file's SQL: tables, views and macros."""
    sql = _COMMENT.sub("", sql_file(file))
    defined = set(_DEFINED.findall(sql))
    return {table or macro for table, macro in _READ.findall(sql) if table not in defined}
