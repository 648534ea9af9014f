"""The columns that the table of many requests stores: those with several values, but no copies of others."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

from reporter.log.sql_files import quoted, sql_file

if TYPE_CHECKING:
    from collections.abc import Mapping
    from collections.abc import Set as AbstractSet

    from duckdb import DuckDBPyConnection

    from reporter.log.one_log import LoggedSpan

_BEGIN: Final = re.compile(r" AS TABLE \(|CREATE TABLE \w+ AS\b")
_COMMENT: Final = re.compile("--.*")
_WORD: Final = re.compile(r"\w+")
_MADE: Final = re.compile(r"(.*?)\bAS (\w+),?$", re.DOTALL | re.MULTILINE)
"""An expression that is a column of the table."""

_ALL_COLUMNS: Final = re.compile(r"SELECT\n|\* EXCLUDE \([^)]*\)(?:,| REPLACE \()|^\s*\),$", re.MULTILINE)
"""The SQL between the expressions of columns."""

_FIRST_OF: Final = re.compile(r"coalesce\(([\w., ]+)\)")
"""The expression of a column that copies another column where some sources are NULL."""


class StoredColumns(NamedTuple):
    """The columns that the table of many requests stores, and SQL for the other columns.

    Attributes:
        kinds: The types of all columns, by name.
        columns: The names of those that are stored.
        others: SQL for the values of the columns that have one, or are copies of others; some are stored,
            for `reporter/sql/settled.sql` may change them.
        are_settled: Whether that file changes nothing.
    """

    kinds: Mapping[str, str]
    columns: AbstractSet[str]
    others: Mapping[str, str]
    are_settled: bool

    @property
    def names(self) -> str:
        """The columns as SQL."""
        return ", ".join(sorted(self.columns))

    @classmethod
    def of(
        cls, connection: DuckDBPyConnection, values: Mapping[str, object], only: LoggedSpan | None
    ) -> StoredColumns:
        """Choose columns by the constants of the reader; `only` is the run's only segment."""
        joined = sql_file("joined_requests")
        if only is not None:
            number = only.first_seq + only.offset
            values = {**values, "first_seq": number, "last_seq": number}
        read = {name: kind for name, kind, *_ in connection.execute("DESCRIBE FROM stream").fetchall()}
        row = ", ".join(f"{_literal(values.get(name), kind)} AS {name}" for name, kind in read.items())
        connection.execute(joined.replace("FROM stream", f"FROM (SELECT {row})"))
        described = connection.execute("DESCRIBE FROM read_requests()").fetchall()
        ((*row_of_values,),) = connection.execute("FROM read_requests()").fetchall()
        connection.execute(joined)
        kinds = {name: kind for name, kind, *_ in described}
        sources = {**_expressions(joined), **_expressions(sql_file("requests"))}
        more = varying = read.keys() - values.keys()
        while more:
            more = {name for name, words in sources.items() if varying & set(_WORD.findall(words))} - varying
            varying |= more
        others = {
            name: _literal(value, kinds[name])
            for name, value in zip(kinds, row_of_values, strict=True)
            if name not in varying
        }
        are_settled = only is not None and _are_settled(connection, values)
        changed = set() if are_settled else set(_WORD.findall(sql_file("settled")))
        nulls = {name for name, value in values.items() if value is None}
        originals: dict[tuple[object, ...], str] = {}
        # A column as it is read stands before those that are made of it.
        for name in sorted((name for name in kinds if name in varying), key=sources.__contains__):
            if arguments := _FIRST_OF.fullmatch(sources.get(name, f"coalesce({name})").strip()):
                words = (word.removeprefix("payloads.") for word in arguments[1].split(", "))
                same = (name in changed, *(word for word in words if word not in nulls))
                if (original := originals.setdefault(same, name)) != name:
                    others[name] = original
        columns = {name for name in kinds if name in changed or name not in others}
        return cls(kinds, columns, others, are_settled)

    def leave_others_to_a_view(self, connection: DuckDBPyConnection, *, changed: bool = False) -> None:
        """Replace the table with a view, where the others cost no memory, and conditions on them no time.

        `changed`: those that are stored have other values by now.
        """
        own = self.columns if changed else self.columns - self.others.keys()
        columns = ", ".join(name if name in own else f"{self.others[name]} AS {name}" for name in self.kinds)
        connection.execute("ALTER TABLE requests RENAME TO requests_but_constants")
        connection.execute(f"CREATE VIEW requests AS SELECT {columns} FROM requests_but_constants")  # noqa: S608 (columns)

    @staticmethod
    def count_gaps(connection: DuckDBPyConnection, weights: Mapping[int, int] | None) -> None:
        """Make `gap_counts` of what compiled code counted of settled requests, if it did."""
        if weights is None:
            return
        connection.execute(
            "CREATE TABLE counted_gaps AS "
            "SELECT unnest(?::BIGINT[]) / 1e3 AS value, unnest(?::BIGINT[]) AS weight",
            [list(weights), list(weights.values())],
        )
        connection.execute("CREATE VIEW gap_counts AS FROM counted_gaps")


def _are_settled(connection: DuckDBPyConnection, values: Mapping[str, object]) -> bool:
    """Whether `settled.sql` changes no request of the only segment: single ones, with a phase."""
    if values.get("conversation", "") is not None or values.get("phase", "") is None:
        return False
    return connection.execute("SELECT is_imported()").fetchall() == [(False,)]


def _literal(value: object, kind: str) -> str:
    return f"{'NULL' if value is None else quoted(str(value))}::{kind}"


def _expressions(sql: str) -> dict[str, str]:
    """The expressions of the columns that a macro or a table makes, by name."""
    made = _BEGIN.split(_COMMENT.sub("", sql), maxsplit=1)[1]
    return {name: expression for expression, name in _MADE.findall(_ALL_COLUMNS.sub("", made))}
