"""The segments of one log: the relevant events, and event numbers.

Segments that are not the run's are left out: scoring writes to the same log later, and no figure of the run
includes it. Times are as stamped; the SQL that reads them adds `shift_of(seq)` (`segment_macros`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Literal

from lazy_dataclasses import dataclass
from recorder.errors import LogError
from recorder.session import ASIDE
from reporter.log.sql_files import quoted

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from reporter.log.node_clock import NodeClock

SEQ_BITS: Final = 40
"""Of an event's number in a shard; above them is the number of its segment, from 1 through all shards."""

Part = Literal["run", "aside", "whole", "head"]
"""Of a log: what happened while it ran; from the first segment on in which it was scored; everything; of a
run with several logs what the one in its folder says of it."""

_ONLY_SEGMENT: Final = """
    WITH segments AS (
        SELECT 1 AS segment, 1 AS first_seq, started_at_ns, started_wall_ns, 0 AS shift_ns, environment,
            0 AS complete_until_ns, 0 AS written_ns
        FROM session
    )"""
"""A log of format 1 had one segment and did not say so."""

_SEGMENTS: Final = """
    segments AS (
        SELECT row_number() OVER (ORDER BY sitting) AS segment,
            first_seq, started_at_ns, started_wall_ns, shift_ns, environment,
            {complete_until_ns} AS complete_until_ns, {written_ns} AS written_ns
        FROM main.sittings AS own WHERE sitting NOT IN ({aside})
    )"""
"""A run's own, numbered through."""

_BEAT: Final = """coalesce((
                SELECT CASE WHEN {column} = CAST({column} AS BIGINT) THEN CAST({column} AS BIGINT) END
                FROM heartbeats WHERE heartbeats.sitting = own.sitting
            ), 0)"""
"""What the writer said last of a segment; 0 where a log does not say it, or it is not a whole number."""

_PLAIN: Final = """
    events AS (SELECT * FROM main.events WHERE {of_part})"""

_NUMBERED: Final = """
    events AS (
        SELECT seq + {offset} AS seq, code, at_ns, sample_uuid, data, texts, chunk_gaps_us
        FROM main.events WHERE {of_part}
    )"""
"""Of one log of several: its numbers must not be those of another one."""

_KINDS: Final = """
    SELECT sitting, first_seq, shift_ns,
        coalesce(CASE WHEN json_valid(environment) THEN environment ->> '$.kind' END, '')
    FROM sittings ORDER BY sitting"""


@dataclass(frozen=True, slots=True)
class Segment:
    """A segment of a log.

    Attributes:
        first_seq: The number of its first event.
        shift_ns: What to add to its times for the clock of the run's first segment.
        of_run: Which segment of the run it is, from 1; of one aside, the last before it.
        is_aside: Whether answers were judged in it.
        node: Of a shard the node that wrote it.
    """

    first_seq: int
    shift_ns: int
    of_run: int
    is_aside: bool = False
    node: str | None = None


@dataclass(frozen=True, slots=True)
class LoggedNode:
    """A node of a run.

    Attributes:
        is_here: Whether its shard is in the run's folder.
        clock: Its clock in the last segment; None where nothing is known of it.
    """

    name: str
    is_here: bool
    clock: NodeClock | None


class LogSegments:
    """The selection of a log's events by segment.

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
                raise LogError("the log is damaged: no start of a segment")
            self.scored_last = self._segments[-1][3] in ASIDE

    @property
    def segments(self) -> list[Segment]:
        """All segments in order."""
        segments: list[Segment] = []
        of_run = 0
        for _, first_seq, shift_ns, kind in self._segments or [(1, 1, 0, "")]:
            of_run += kind not in ASIDE
            segments.append(Segment(first_seq, shift_ns, of_run, kind in ASIDE))
        return segments

    def query(self, selection: str, part: Part = "run", offsets: Sequence[int] = ()) -> str:
        """A selection from `events` or `segments`, restricted to a part of the log."""
        if self._segments is None:
            return f"{_ONLY_SEGMENT}{selection}"
        aside = [segment for segment, *_, kind in self._segments if kind in ASIDE]
        of_part = _OF_PART[part](self._segments)
        before = [_SEGMENTS.format(aside=", ".join(map(str, [0, *aside])), **self._beats)]
        if offsets:
            before.append(_NUMBERED.format(offset=self._by_segment(offsets), of_part=of_part))
        elif of_part != _ALL:
            before.append(_PLAIN.format(of_part=of_part))
        return f"WITH {', '.join(before)} {selection}"

    def _by_segment(self, values: Sequence[int]) -> str:
        """SQL for a value by event segment; the last segment comes first, with the greatest numbers."""
        if len(values) == 1:
            return str(values[0])
        pairs = reversed(list(zip(self.segments, values, strict=True)))
        cases = " ".join(f"WHEN seq >= {segment.first_seq:d} THEN {value:d}" for segment, value in pairs)
        return f"CASE {cases} END"


def segment_macros(segments: Sequence[Segment]) -> str:
    """SQL for macros over an event's number: the segment is the last that began before the event.

    `segment_of` is which segment of the run it is part of, `node_of` the node whose log has it (NULL where a
    run has one log), and `shift_of` what to add to its times, also those in its data, for the clock of the
    run's first segment. Values are in the text: subqueries for them would be planned in every statement.
    """
    starts = sorted(segment.first_seq for segment in segments if segment.node is None)
    return ";".join(
        _macro(name, starts, values, otherwise)
        for name, values, otherwise in (
            ("segment_of", [f"{segment.of_run:d}::BIGINT" for segment in segments], "0::BIGINT"),
            ("shift_of", [f"{segment.shift_ns:d}::BIGINT" for segment in segments], "0::BIGINT"),
            (
                "node_of",
                [quoted(segment.node) if segment.node else _NO_NODE for segment in segments],
                _NO_NODE,
            ),
        )
    )


_NO_NODE: Final = "NULL::VARCHAR"


def _macro(name: str, starts: Sequence[int], values: Sequence[str], otherwise: str) -> str:
    """A macro for a value of an event's segment: the first begin at these numbers, the rest are shards'."""
    if set(values) <= {otherwise}:
        return f"CREATE MACRO {name}(event_seq) AS {otherwise}"
    cases = [
        f"WHEN event_seq >= {start:d} THEN {value}" for start, value in zip(starts, values, strict=False)
    ]
    of_shards = values[len(starts) :]
    if of_shards:
        listed = f"list_extract([{', '.join(of_shards)}], event_seq >> {SEQ_BITS})"
        cases.append(f"WHEN event_seq >= {1 << SEQ_BITS} THEN {listed}")
    return f"CREATE MACRO {name}(event_seq) AS CASE {' '.join(reversed(cases))} ELSE {otherwise} END"


_ALL: Final = "true"


def _of_run(segments: Sequence[Any]) -> str:
    """Leave other segments out: those at the end by their start, so that none of their rows are read."""
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
    first = next((first_seq for _, first_seq, *_, kind in segments if kind in ASIDE), None)
    return "false" if first is None else f"seq >= {first:d}"


def _whole(_: Sequence[Any]) -> str:
    return _ALL


_OF_PART: Final = {"run": _of_run, "aside": _aside, "whole": _whole, "head": _of_run}
