"""A run's time as one line without the gaps between segments, for cutting into equal spans."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from reporter.measured.blocks import FINEST, span_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reporter.log.database import OpenLog


@dataclass(frozen=True, slots=True)
class SegmentLine:
    """The parts of segments that count, one after the other.

    Attributes:
        parts: For each segment its number, and from when to when, in ns.
    """

    parts: Sequence[tuple[int, int, int]]

    @property
    def length_ns(self) -> int:
        """The total length."""
        return sum(end_ns - start_ns for _, start_ns, end_ns in self.parts)

    def moment(self, at_ns: str) -> str:
        """SQL for the position of a segment's moment on the line, in ns from the start."""
        gone_ns, cases = 0, []
        for segment, start_ns, end_ns in self.parts:
            cases.append(f"WHEN {segment:d} THEN {at_ns} - {start_ns - gone_ns:d}")
            gone_ns += end_ns - start_ns
        if len(cases) == 1:
            return f"({at_ns} - {self.parts[0][1]:d})"
        return f"(CASE sitting {' '.join(cases)} END)" if cases else "NULL::BIGINT"


def issuing(log: OpenLog) -> SegmentLine:
    """From the first to the last measured issue of each segment."""
    return SegmentLine(
        log.execute(
            "SELECT sitting, min(issued_ns), max(issued_ns) FROM requests "
            "WHERE measured AND issued_ns IS NOT NULL GROUP BY sitting ORDER BY sitting"
        ).fetchall()
    )


def issued_in(log: OpenLog, spans: int = FINEST) -> str:
    """SQL for the number of the equal span of time, from 0, that a request was issued in.

    Where all were issued at one moment there is one span.
    """
    line = issuing(log)
    return span_of(line.moment("issued_ns"), line.length_ns, spans) if line.length_ns else "0"


def windows(log: OpenLog) -> SegmentLine:
    """The windows that rates are counted over."""
    return SegmentLine(
        log.execute(
            "SELECT sitting, start_ns, end_ns FROM windows WHERE duration_s IS NOT NULL ORDER BY sitting"
        ).fetchall()
    )
