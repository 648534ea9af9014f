"""The sittings of a run on one clock: a log that was resumed after a restart counts time from two beginnings.

Whatever is read of a log's events passes here: then their times, also those in their payloads, are those of
the first sitting's clock, and nothing else of the reporter has to know.
"""

from __future__ import annotations

from typing import Any, Final

from recorder.errors import LogError

_ONLY_SITTING: Final = """
    WITH sittings AS (
        SELECT 1 AS sitting, 1 AS first_seq, started_at_ns, started_wall_ns, 0 AS shift_ns, environment
        FROM session
    )"""
"""A log of format 1 had one sitting and did not say so."""

_SHIFTED: Final = """
    WITH events AS (
        SELECT
            seq,
            code,
            at_ns + shift_ns AS at_ns,
            sample_uuid,
            CASE WHEN shift_ns = 0 OR data IS NULL THEN data ELSE (
                SELECT json_group_object(key, CASE
                    WHEN type = 'integer' AND key LIKE '%~_ns' ESCAPE '~' THEN value + shift_ns
                    ELSE json(data -> fullkey)
                END)
                FROM json_each(data)
            ) END AS data,
            texts,
            chunk_gaps_us
        FROM (SELECT *, CASE {cases} ELSE 0 END AS shift_ns FROM main.events)
    )"""


class OneClock:
    """How to ask a log for events whose times are all on the first sitting's clock.

    Args:
        source: A connection to the log, by DB-API.

    Raises:
        LogError: The log is damaged.
    """

    def __init__(self, source: Any) -> None:
        self._before = _ONLY_SITTING
        if _all(source, "SELECT name FROM sqlite_master WHERE name = 'sittings'"):
            shifts = _all(source, "SELECT first_seq, shift_ns FROM sittings ORDER BY sitting DESC")
            if not all(isinstance(number, int) for sitting in shifts for number in sitting):
                raise LogError("the log is damaged: it does not say where its sittings begin")
            self._before = _shifted(shifts) if any(by_ns for _, by_ns in shifts) else ""

    def query(self, selection: str) -> str:
        """The same selection from `events` or `sittings`, with all times of events on one clock."""
        return f"{self._before}{selection}"


def _shifted(shifts: list[tuple[int, int]]) -> str:
    """Stand in for the table of events; the last sitting comes first, for it has the greatest numbers."""
    cases = (f"WHEN seq >= {first_seq:d} THEN {by_ns:d}" for first_seq, by_ns in shifts)
    return _SHIFTED.format(cases=" ".join(cases))


def _all(source: Any, query: str) -> list[Any]:
    with source.cursor() as cursor:
        cursor.execute(query)
        rows: list[Any] = cursor.fetchall()
    return rows
