"""The segments of a run on one clock: a log that was resumed after a reboot has times from two clocks.

All events of a log are read through this: their times, also those in their payloads, are those of the first
segment's clock, and the rest of the reporter need not know. Segments that are not the run's are left out:
scoring writes to the same log later, and no figure of the run includes it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Literal

from recorder.errors import LogError
from recorder.session import ASIDE

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

Part = Literal["run", "aside", "whole"]
"""Of a log: what happened while it ran; from the first segment on in which it was scored; everything."""

_ONLY_SEGMENT: Final = """
    WITH sittings AS (
        SELECT 1 AS sitting, 1 AS first_seq, started_at_ns, started_wall_ns, 0 AS shift_ns, environment,
            0 AS complete_until_ns, 0 AS written_ns
        FROM session
    )"""
"""A log of format 1 had one segment and did not say so."""

_SEGMENTS: Final = """
    sittings AS (
        SELECT row_number() OVER (ORDER BY sitting) AS sitting,
            first_seq, started_at_ns, started_wall_ns, shift_ns, environment,
            {complete_until_ns} AS complete_until_ns, {written_ns} AS written_ns
        FROM main.sittings AS own WHERE sitting NOT IN ({aside})
    )"""
"""A run's own, numbered through."""

_BEAT: Final = """coalesce((
                SELECT iif(typeof({column}) = 'integer', {column}, 0) FROM heartbeats
                WHERE heartbeats.sitting = own.sitting
            ), 0)"""
"""What the writer said last of a segment; 0 where a log does not say it."""

_PLAIN: Final = """
    events AS (SELECT * FROM main.events WHERE {of_part})"""

_SHIFTED: Final = """
    events AS (
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
        FROM (SELECT *, CASE {cases} ELSE 0 END AS shift_ns FROM main.events WHERE {of_part})
    )"""

_KINDS: Final = """
    SELECT sitting, first_seq, shift_ns,
        coalesce(CASE WHEN json_valid(environment) THEN json_extract(environment, '$.kind') END, '')
    FROM sittings ORDER BY sitting"""


class OneClock:
    """How to ask a log for events whose times are all on the first segment's clock.

    Args:
        select: Gives the rows of a query of the log.

    Attributes:
        scored_last: Whether the last segment is one of scoring, rather than of the run.

    Raises:
        LogError: The log is damaged.
    """

    def __init__(self, select: Callable[[str], list[tuple[Any, ...]]]) -> None:
        self._segments: list[Any] | None = None
        self.scored_last = False
        named = "SELECT name FROM sqlite_master WHERE name IN ('sittings', 'heartbeats')"
        tables = {name for (name,) in select(named)}
        beat = _BEAT if "heartbeats" in tables else "0"
        self._beats = {name: beat.format(column=name) for name in ("complete_until_ns", "written_ns")}
        if "sittings" in tables:
            self._segments = select(_KINDS)
            if not self._segments or not all(
                isinstance(number, int) for *three, _ in self._segments for number in three
            ):
                raise LogError("the log is damaged: it does not say where its segments begin")
            self.scored_last = self._segments[-1][3] in ASIDE

    def query(self, selection: str, part: Part = "run") -> str:
        """The same selection from `events` or `sittings`, with all times of events on one clock.

        Args:
            selection: A query.
            part: Which events it is to see.
        """
        if self._segments is None:
            return f"{_ONLY_SEGMENT}{selection}"
        aside = [segment for segment, *_, kind in self._segments if kind in ASIDE]
        of_part = _OF_PART[part](self._segments)
        before = [_SEGMENTS.format(aside=", ".join(map(str, aside)), **self._beats)]
        if any(shift_ns for _, _, shift_ns, _ in self._segments):
            before.append(_SHIFTED.format(cases=_cases(self._segments), of_part=of_part))
        elif of_part != _ALL:
            before.append(_PLAIN.format(of_part=of_part))
        return f"WITH {', '.join(before)} {selection}"


_ALL: Final = "true"


def _cases(segments: Sequence[Any]) -> str:
    """The last segment comes first, for it has the greatest numbers."""
    return " ".join(f"WHEN seq >= {seq:d} THEN {by_ns:d}" for _, seq, by_ns, _ in reversed(segments))


def _of_run(segments: Sequence[Any]) -> str:
    """Leave the other segments out: those at the end by where they begin, so that nothing of them is read."""
    ends = [*(first_seq for _, first_seq, *_ in segments[1:]), None]
    spans = [(segment[1], end) for segment, end in zip(segments, ends, strict=True) if segment[3] in ASIDE]
    conditions = []
    while spans and spans[-1][1] is None:
        first_seq, _ = spans.pop()
        if spans and spans[-1][1] == first_seq:
            spans[-1] = (spans[-1][0], None)
        else:
            conditions.append(f"seq < {first_seq:d}")
    conditions += [f"NOT seq BETWEEN {first:d} AND {end - 1:d}" for first, end in spans if end is not None]
    return " AND ".join(conditions) or _ALL


def _aside(segments: Sequence[Any]) -> str:
    first = next((first_seq for _, first_seq, _, kind in segments if kind in ASIDE), None)
    return "false" if first is None else f"seq >= {first:d}"


def _whole(_: Sequence[Any]) -> str:
    return _ALL


_OF_PART: Final = {"run": _of_run, "aside": _aside, "whole": _whole}
