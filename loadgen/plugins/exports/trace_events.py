"""Events of a trace in Chrome's JSON format, which ui.perfetto.dev, speedscope and DuckDB read.

Times are microseconds of CLOCK_MONOTONIC with three decimals, so that they stay whole nanoseconds.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import orjson

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

Value = str | int | float | bool | None
"""Of an argument; one that is None is left out."""

END: Final = b"\n]}\n"
"""The end of the file."""


class Track(NamedTuple):
    """A track of slices or of a counter: a thread of a process, in the terms of the format.

    Attributes:
        place: The members that say where an event belongs.
        unit: Of a counter; None for slices.
    """

    place: bytes
    name: str
    unit: str | None = None


class TraceEvents:
    """Makes the events of one trace, each with the comma before it."""

    def __init__(self) -> None:
        self._processes = 0
        self._tracks = 0

    def start(self, at_ns: int, wall_ns: int) -> bytes:
        """The start of the file."""
        clocks = orjson.dumps({"monotonic_ns": at_ns, "wall_ns": wall_ns})
        # An event without effect: each of those that follow begins with a comma.
        first = b'{"ph":"M","pid":1,"name":"process_sort_index","args":{"sort_index":1}}'
        return b'{"displayTimeUnit":"ms","otherData":%b,"traceEvents":[\n%b' % (clocks, first)

    def process(self, name: str) -> tuple[int, bytes]:
        """A group of tracks, shown in order.

        Returns:
            Its number, and the events that declare it.
        """
        self._processes += 1
        place = b'"pid":%d' % self._processes
        return self._processes, _declared(place, b"process", name, self._processes)

    def track(self, name: str, process: int, rank: int = 0) -> tuple[Track, bytes]:
        """A track of slices, and the events that declare it."""
        self._tracks += 1
        place = b'"pid":%d,"tid":%d' % (process, self._tracks)
        return Track(place, name), _declared(place, b"thread", name, rank)

    def counter_track(self, name: str, process: int, unit: str) -> Track:
        """A track of a counter, which takes no declaration."""
        return Track(b'"pid":%d' % process, name, unit or "value")

    def begin(
        self, at_ns: int, track: Track, name: str, category: str, arguments: Mapping[str, Value] | None = None
    ) -> bytes:
        """A slice begins."""
        return _event(b'"ph":"B"', at_ns, track) + _named(name, category, arguments)

    def end(self, at_ns: int, track: Track) -> bytes:
        """The innermost open slice of a track ends."""
        return _event(b'"ph":"E"', at_ns, track) + b"}"

    def instant(
        self, at_ns: int, track: Track, name: str, category: str, arguments: Mapping[str, Value] | None = None
    ) -> bytes:
        """Something happens."""
        return _event(_INSTANT, at_ns, track) + _named(name, category, arguments)

    def instants(self, moments: Sequence[int], track: Track, name: str, category: str) -> list[bytes]:
        """Several instants of one event."""
        tail = _named(name, category, None)
        return [_event(_INSTANT, at_ns, track) + tail for at_ns in moments]

    def counter(self, at_ns: int, track: Track, value: float) -> bytes:
        """A counter has a value from now on."""
        named = orjson.dumps({"name": track.name, "args": {track.unit or "value": value}})
        return _event(b'"ph":"C"', at_ns, track) + b"," + named[1:]


_INSTANT: Final = b'"ph":"i","s":"t"'


def _event(kind: bytes, at_ns: int, track: Track) -> bytes:
    return b',\n{%b,"ts":%d.%03d,%b' % (kind, at_ns // 1000, at_ns % 1000, track.place)


def _named(name: str, category: str, arguments: Mapping[str, Value] | None) -> bytes:
    present = {key: value for key, value in (arguments or {}).items() if value is not None}
    members = {"name": name, "cat": category} | ({"args": present} if present else {})
    return b"," + orjson.dumps(members)[1:]


def _declared(place: bytes, kind: bytes, name: str, rank: int) -> bytes:
    """The name and the rank of a process or a track."""
    return b',\n{"ph":"M",%b,"name":"%b_name","args":%b},\n{"ph":"M",%b,"name":"%b_sort_index","args":%b}' % (
        *(place, kind, orjson.dumps({"name": name})),
        *(place, kind, orjson.dumps({"sort_index": rank})),
    )
