"""Spans of time for grouping events: many of one width, or a few of individual width."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from reporter.log.sql_files import sql_file

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from reporter.log.database import OpenLog


@dataclass(frozen=True, slots=True)
class SpanRow:
    """Consecutive spans of one width.

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


def happenings(log: OpenLog, rows: Sequence[SpanRow]) -> Mapping[int, Mapping[str, Any]]:
    """The event counts of each span (`reporter/sql/figures/happenings.sql`); spans without events are absent.

    Args:
        log: An opened log.
        rows: The spans, numbered from 0 through all rows. A row is over where a later one begins.
    """
    macro = span_macro(log, rows)
    answer = log.execute(sql_file("figures/happenings").replace("span_of(", f"{macro}("))
    columns = [column[0] for column in answer.description or ()]
    amounts = [dict(zip(columns, row, strict=True)) for row in answer.fetchall()]
    return {happened["span"]: happened for happened in amounts}


def span_macro(log: OpenLog, rows: Sequence[SpanRow]) -> str:
    """The name of an SQL macro that gives the number of the span that a moment is in, NULL outside of all.

    Its name is made of the spans, so that each has the same meaning whatever else was asked of the log.

    Args:
        log: An opened log.
        rows: As for `happenings`.
    """
    number = span_number(rows)
    name = f"span_of_{sha256(number.encode()).hexdigest()[:16]}"
    log.execute(f"CREATE TEMP MACRO IF NOT EXISTS {name}(at_ns) AS {number}")
    return name


def span_number(rows: Sequence[SpanRow]) -> str:
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
