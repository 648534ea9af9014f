"""Packets of a Perfetto trace: track descriptors and track events.

The fields are those of perfetto/protos/perfetto/trace/perfetto_trace.proto (v59.1); a file is any number of
packets, in any order. Times are nanoseconds of CLOCK_MONOTONIC, which the trace has as its primary clock.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from reporter.export.protobuf import double, integer, message, text, varint

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

Value = str | int | float | bool | None
"""Of an argument; one that is None is left out."""

_PACKET: Final = 1
_REALTIME: Final = 1
_MONOTONIC: Final = 3
_CLEARED: Final = 1
_NEEDED: Final = 2
_EXPLICIT: Final = 3
_BEGIN, _END, _INSTANT, _COUNTER = 1, 2, 3, 4

_EVENT_CATEGORIES: Final = 1
_EVENT_NAMES: Final = 2
_ARGUMENT_NAMES: Final = 3

_MOST_INTEGER: Final = 2**63 - 1


class TracePackets:
    """Makes the packets of one trace; names are written once and referred to by number."""

    def __init__(self) -> None:
        self._numbers: dict[tuple[int, str], int] = {}
        self._new: list[bytes] = []
        self._tracks = 0

    def start(self, at_ns: int, wall_ns: int) -> bytes:
        """The first packets of the trace.

        Args:
            at_ns: A moment.
            wall_ns: The same on the wall clock.
        """
        clocks = ((_MONOTONIC, at_ns), (_REALTIME, wall_ns))
        snapshot = [message(1, integer(1, clock), integer(2, value)) for clock, value in clocks]
        return _packet(message(6, *snapshot, integer(2, _MONOTONIC))) + _packet(
            integer(10, 1),
            integer(87, 1),
            integer(13, _CLEARED | _NEEDED),
            message(59, integer(58, _MONOTONIC)),
        )

    def process(self, name: str) -> tuple[int, bytes]:
        """A group of tracks, shown in order; the viewer groups by process.

        Returns:
            Its number as a track, and the packet that declares it.
        """
        self._tracks += 1
        described = message(3, integer(1, self._tracks), text(6, name))
        return self._tracks, _packet(message(60, integer(1, self._tracks), described, integer(11, _EXPLICIT)))

    def track(self, name: str, parent: int, rank: int = 0, *, unit: str | None = None) -> tuple[int, bytes]:
        """A track of slices; with a unit, which may be empty, of a counter.

        Returns:
            Its number, and the packet that declares it.
        """
        self._tracks += 1
        counter = b"" if unit is None else message(8, text(6, unit) if unit else b"")
        fields = (integer(1, self._tracks), integer(5, parent), text(2, name), integer(12, rank), counter)
        return self._tracks, _packet(message(60, *fields))

    def begin(
        self, at_ns: int, track: int, name: str, category: str, arguments: Mapping[str, Value] | None = None
    ) -> bytes:
        """A slice begins."""
        return self._named(_BEGIN, at_ns, track, name, category, arguments)

    def end(self, at_ns: int, track: int) -> bytes:
        """The innermost open slice of a track ends."""
        return self._event(at_ns, integer(9, _END) + integer(11, track))

    def instant(
        self, at_ns: int, track: int, name: str, category: str, arguments: Mapping[str, Value] | None = None
    ) -> bytes:
        """Something happens."""
        return self._named(_INSTANT, at_ns, track, name, category, arguments)

    def instants(self, moments: Sequence[int], track: int, name: str, category: str) -> list[bytes]:
        """Several instants of one event."""
        if not moments:
            return []
        names = self._names(name, category)
        event = message(11, integer(9, _INSTANT), integer(11, track), names)
        tail = self._sequence() + event
        plain = integer(10, 1) + integer(13, _NEEDED) + event
        packets = []
        for at_ns in moments:
            stamp = b"\x40" + varint(at_ns)
            packets.append(b"\x0a" + varint(len(stamp) + len(tail)) + stamp + tail)
            tail = plain
        return packets

    def counter(self, at_ns: int, track: int, value: float) -> bytes:
        """A counter has a value from now on."""
        return self._event(at_ns, integer(9, _COUNTER) + integer(11, track) + double(44, value))

    def _named(
        self,
        kind: int,
        at_ns: int,
        track: int,
        name: str,
        category: str,
        arguments: Mapping[str, Value] | None,
    ) -> bytes:
        fields = [integer(9, kind), integer(11, track), self._names(name, category)]
        for key, value in (arguments or {}).items():
            if value is not None:
                fields.append(message(4, integer(1, self._number(_ARGUMENT_NAMES, key)), _value(value)))
        return self._event(at_ns, b"".join(fields))

    def _names(self, name: str, category: str) -> bytes:
        return integer(10, self._number(_EVENT_NAMES, name)) + integer(
            3, self._number(_EVENT_CATEGORIES, category)
        )

    def _event(self, at_ns: int, fields: bytes) -> bytes:
        return _packet(integer(8, at_ns), self._sequence(), message(11, fields))

    def _sequence(self) -> bytes:
        """The sequence fields of each event, with newly interned names."""
        new, self._new = self._new, []
        return integer(10, 1) + integer(13, _NEEDED) + (message(12, *new) if new else b"")

    def _number(self, kind: int, name: str) -> int:
        number = self._numbers.get((kind, name))
        if number is None:
            number = self._numbers[kind, name] = len(self._numbers) + 1
            self._new.append(message(kind, integer(1, number), text(2, name)))
        return number


def _packet(*fields: bytes) -> bytes:
    return message(_PACKET, *fields)


def _value(value: str | float) -> bytes:
    if isinstance(value, bool):
        return integer(2, value)
    if isinstance(value, int) and 0 <= value <= _MOST_INTEGER:
        return integer(3, value)
    if isinstance(value, str):
        return text(6, value)
    return double(5, value)
