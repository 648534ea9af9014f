"""The measured requests that ended since the last reading of a log, with their figures, for targets.

A busy log has more than a reading may take: then only requests whose ids end in zeros are read, each for 16
or 256 of them. Ids that count, or that are drawn at random, end in every digit equally often.
"""

from __future__ import annotations

from array import array
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

from recorder.event import EventType
from reporter.json_values import document, members, whole

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Collection, Iterator

    from reporter.live.target_tallies import TargetTallies

MOST_READ: Final = 250
MOST_GAPS_OF: Final = 60
"""Completed requests per reading, without and with the gaps of all their chunks."""
_FIRST_SHARE: Final = 20
"""How many times as much the first reading takes, which catches up with a long log."""
_DIGITS: Final = 16
_MOST_IN_FLIGHT: Final = 200_000
"""Beyond it the oldest ones are forgotten."""

_COUNT: Final = "SELECT count(*) FROM events WHERE seq > ? AND seq <= ? AND code = ?"
_ISSUED: Final = """
    SELECT sample_uuid, at_ns, json_extract(data, '$.scheduled_ns') FROM events
    WHERE seq > ? AND seq <= ? AND code = ? AND sample_uuid GLOB ?
        AND json_extract(data, '$.phase') = 'performance'"""
_ENDED: Final = """
    SELECT sample_uuid, code, at_ns, data, {gaps} FROM events
    WHERE seq > ? AND seq <= ? AND code BETWEEN ? AND ? AND sample_uuid GLOB ?"""

_GAPS: Final = "chunk_gaps_us"
_FIRST_GAP: Final = "substr(chunk_gaps_us, 1, 4)"

_SINCE_SENT: Final = {
    "ttft": "first_token_ns",
    "ttfo": "first_output_ns",
    "ttfv": "first_visible_ns",
    "ttfb": "first_byte_ns",
    "last_token": "last_token_ns",
}
"""The moments that latencies from sending end with."""


class EndedRequests:
    """The requests of one log, for targets.

    Args:
        tallies: Takes the requests that completed.
    """

    def __init__(self, tallies: TargetTallies) -> None:
        self._tallies = tallies
        self._metrics = tallies.metrics
        self._issued: dict[str, tuple[int, int | None]] = {}
        has_gaps = "itl" in self._metrics
        self._limit = _FIRST_SHARE * (MOST_GAPS_OF if has_gaps else MOST_READ)
        self._is_first = True
        self._query = _ENDED.format(gaps=_GAPS if has_gaps else _FIRST_GAP)

    def read(self, connection: sqlite3.Connection, since: int, until: int) -> None:
        """Take the requests that ended behind one event, up to another."""
        if not self._metrics:
            return
        ((count,),) = connection.execute(_COUNT, (since, until, EventType.COMPLETE)).fetchall()
        zeros = 0
        while count > self._limit * _DIGITS**zeros:
            zeros += 1
        chosen = "*" + zeros * "0"
        for uuid, at_ns, due_ns in connection.execute(
            _ISSUED, (since, until, EventType.LOADGEN_ISSUE_CALLED, chosen)
        ):
            self._issued[uuid] = at_ns, whole(due_ns)
        ends = (since, until, EventType.COMPLETE, EventType.CANCELLED, chosen)
        for uuid, code, at_ns, data, gaps in connection.execute(self._query, ends):
            moments_ns = self._issued.pop(uuid, None)
            if moments_ns is not None and code == EventType.COMPLETE:
                figures = dict(self._figures(*moments_ns, at_ns, members(document(data or "{}")), gaps))
                self._tallies.completed(figures, _DIGITS**zeros)
        for uuid in list(islice(self._issued, max(0, len(self._issued) - _MOST_IN_FLIGHT))):
            del self._issued[uuid]
        if self._is_first:
            self._is_first, self._limit = False, self._limit // _FIRST_SHARE

    def _figures(
        self, issued_ns: int, due_ns: int | None, ended_ns: int, data: dict[str, Any], gaps: bytes | None
    ) -> Iterator[tuple[str, Collection[float]]]:
        """The figures by metric, in ms and tokens; a request lacks those that its response does not have."""
        gaps_us = array("I", gaps) if gaps else array("I")
        first_ns, last_ns = whole(data.get("first_token_ns")), whole(data.get("last_token_ns"))
        sent_ns = first_ns - 1000 * gaps_us[0] if first_ns and gaps_us else None
        ends_ns = {name: whole(data.get(key)) for name, key in _SINCE_SENT.items()} | {"latency": ended_ns}
        begins_ns = {**dict.fromkeys(_SINCE_SENT, sent_ns), "latency": issued_ns}
        for metric in self._metrics:
            name = metric.removesuffix("_from_schedule")
            if name in ends_ns:
                begin_ns = begins_ns[name] if name == metric else due_ns
                end_ns = ends_ns[name]
                if begin_ns is not None and end_ns is not None:
                    yield metric, ((end_ns - begin_ns) / 1e6,)
            elif metric == "itl":
                yield metric, [gap_us / 1e3 for gap_us in gaps_us[1:]]
            elif (
                metric in {"input_tokens", "output_tokens"}
                and (tokens := whole(data.get(metric))) is not None
            ):
                yield metric, (tokens,)
            elif first_ns and last_ns and last_ns > first_ns:
                after_first = 1 if metric == "decode" else _seen(data) - 1
                if after_first > 0:
                    yield metric, ((last_ns - first_ns) / 1e6 / after_first,)


def _seen(data: dict[str, Any]) -> int:
    """The tokens that the stream showed: the server may count the end of the sequence too."""
    chunks, tokens = whole(data.get("chunks")) or 0, whole(data.get("output_tokens")) or 0
    return chunks if tokens in {0, chunks + 1} else tokens
