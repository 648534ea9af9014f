"""A run's time as one line without the gaps between segments, for cutting into equal spans."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from lazy_dataclasses import dataclass

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reporter.log.database import OpenLog


FINEST: Final = 32
"""The number of the finest spans; a power of two, so that neighbours can be merged."""

COARSEST: Final = 4
"""The most of the finest that become one where the dependence of spans is estimated from them."""

FEWEST: Final = 5
"""Values in each span at least."""


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
        return f"(CASE segment {' '.join(cases)} END)" if cases else "NULL::BIGINT"


def issuing(log: OpenLog) -> SegmentLine:
    """From the first to the last measured issue of each segment."""
    return SegmentLine(
        log.execute(
            "SELECT segment, min(issued_ns), max(issued_ns) FROM requests "
            "WHERE measured AND issued_ns IS NOT NULL GROUP BY segment ORDER BY segment"
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
            "SELECT segment, start_ns, end_ns FROM windows WHERE duration_s IS NOT NULL ORDER BY segment"
        ).fetchall()
    )


def group_size(counts: Sequence[int]) -> int | None:
    """How many neighbouring spans, of the finest, have to become one; None where not two would be left."""
    size = 1
    while size < FINEST:
        if min(map(sum, grouped(counts, size))) >= FEWEST:
            return size
        size *= 2
    return None


def grouped(spans: Sequence[Any], size: int) -> list[Sequence[Any]]:
    """Spans, with groups of `size` neighbours merged."""
    return [spans[first : first + size] for first in range(0, len(spans), size)]


def merged_size(counts: Sequence[int]) -> int | None:
    """How many of the finest spans become one, for `FEWEST` values in each on average as far as 8 are left.

    None where these have fewer than two values on average.
    """
    size = 1
    while size < COARSEST and sum(counts) * size < FEWEST * FINEST:
        size *= 2
    return size if sum(counts) * size >= 2 * FINEST else None


def span_of(moment: str, length_ns: int, spans: int = FINEST) -> str:
    """SQL for the number of a moment's span, from 0, counted from the start of the first span."""
    return f"least({moment} * {spans} // {max(length_ns, 1)}, {spans - 1})"
