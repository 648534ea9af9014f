"""Spans of time that events are sorted into: many of one width, or a few of their own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from reporter.log.database import all_figures

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from duckdb import DuckDBPyConnection


@dataclass(frozen=True, slots=True)
class SpanRow:
    """So many spans of one width, one after the other.

    Attributes:
        since_ns: What was before is in none of them.
        start_ns: Where the first begins; no later than that.
        width_ns: How long each is.
        count: How many there are.
    """

    since_ns: int
    start_ns: int
    width_ns: int
    count: int = 1


def happenings(connection: DuckDBPyConnection, rows: Sequence[SpanRow]) -> Mapping[int, Mapping[str, Any]]:
    """What happened in each span (`reporter/sql/figures/happenings.sql`); one without events is not there.

    The macro `span_of` is left behind: the number of the span that a moment is in, NULL outside of all.

    Args:
        connection: An opened log.
        rows: The spans, numbered from 0 through all rows. A row is over where a later one begins.
    """
    connection.execute(f"CREATE OR REPLACE TEMP MACRO span_of(at_ns) AS {_number(rows)}")
    return {happened["span"]: happened for happened in all_figures(connection, "happenings")}


def _number(rows: Sequence[SpanRow]) -> str:
    """The SQL for the number of the span that `at_ns` is in."""
    cases, first = [], 0
    for row in rows:
        end_ns = row.start_ns + row.count * row.width_ns
        cases.append(
            f"WHEN at_ns >= {row.since_ns:d} AND at_ns < {end_ns:d} "
            f"THEN {first:d} + (at_ns - {row.start_ns:d}) // {row.width_ns:d}"
        )
        first += row.count
    return f"CASE {' '.join(reversed(cases))} END" if cases else "NULL::BIGINT"
