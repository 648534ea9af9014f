"""Times of the requests of a stream: those that overlap are separate streams; the time that tools cover."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from loadgen.plugins.agentic.recorded import RecordedTurn


def without_overlap(turns: Sequence[RecordedTurn]) -> list[list[RecordedTurn]]:
    """Requests as streams, in each of which one request begins after the end of the one before."""
    streams: list[list[RecordedTurn]] = []
    for turn in sorted(turns, key=lambda turn: turn.start_ns):
        free = (stream for stream in streams if (stream[-1].end_ns or stream[-1].start_ns) <= turn.start_ns)
        stream = next(free, None)
        if stream is None:
            streams.append([turn])
        else:
            stream.append(turn)
    return streams


def covered_ns(spans: Sequence[tuple[int, int]], start_ns: int, end_ns: int) -> int:
    """The time between two moments that spans cover, however many at a time."""
    covered, reached = 0, start_ns
    for first_ns, last_ns in sorted(spans):
        until_ns = min(last_ns, end_ns)
        covered += max(0, until_ns - max(first_ns, reached))
        reached = max(reached, until_ns)
    return covered
