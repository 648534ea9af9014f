"""A Perfetto trace, read with its project's schema and put together as the trace processor does."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable


@dataclass
class Slice:
    """A row of the trace processor's table `slice`; an instant has no duration, an open slice -1."""

    ts: int
    dur: int
    track: tuple[str, ...]
    name: str
    category: str
    depth: int
    arguments: dict[str, Any]


@dataclass
class ReadTrace:
    """What a trace has in it."""

    slices: list[Slice] = field(default_factory=list)
    counters: dict[tuple[str, ...], list[tuple[int, float]]] = field(default_factory=dict)
    units: dict[tuple[str, ...], str] = field(default_factory=dict)
    clocks: dict[int, int] = field(default_factory=dict)

    def named(self, name: str, category: str | None = None) -> list[Slice]:
        """The slices of a name, as `WHERE name = … AND category = …` finds them."""
        return [
            item
            for item in self.slices
            if item.name == name and (category is None or item.category == category)
        ]


def read_trace(content: bytes) -> ReadTrace:
    """Parse a trace: every field known to the schema, events in the order of time on each track."""
    from perfetto.protos.perfetto.trace.perfetto_trace_pb2 import Trace

    parsed = Trace.FromString(content)
    parsed.DiscardUnknownFields()
    assert parsed.ByteSize() == len(content), "a field is not of the schema, or longer than it need be"
    result = ReadTrace()
    tracks: dict[int, tuple[str, ...]] = {}
    interned: dict[str, dict[int, str]] = {kind: {} for kind in _INTERNED}
    events = []
    for packet in parsed.packet:
        for kind, names in interned.items():
            names |= {entry.iid: entry.name for entry in getattr(packet.interned_data, kind)}
        if packet.HasField("clock_snapshot"):
            assert packet.clock_snapshot.primary_trace_clock == 3
            result.clocks = {clock.clock_id: clock.timestamp for clock in packet.clock_snapshot.clocks}
        if packet.HasField("track_descriptor"):
            described = packet.track_descriptor
            name = described.process.process_name or described.name
            tracks[described.uuid] = (*tracks.get(described.parent_uuid, ()), name)
            if described.HasField("counter"):
                result.units[tracks[described.uuid]] = described.counter.unit_name
        if packet.HasField("track_event"):
            assert packet.trusted_packet_sequence_id == 1
            events.append((packet.timestamp, packet.track_event))
    events.sort(key=lambda event: event[0])
    open_slices: dict[int, list[Slice]] = {}
    for at_ns, event in events:
        _apply(result, at_ns, event, tracks[event.track_uuid], open_slices, interned)
    return result


_INTERNED = ("event_names", "event_categories", "debug_annotation_names")


def _apply(
    result: ReadTrace,
    at_ns: int,
    event: Any,
    track: tuple[str, ...],
    open_slices: dict[int, list[Slice]],
    interned: dict[str, dict[int, str]],
) -> None:
    from perfetto.protos.perfetto.trace.perfetto_trace_pb2 import TrackEvent

    stack = open_slices.setdefault(event.track_uuid, [])
    if event.type == TrackEvent.TYPE_COUNTER:
        result.counters.setdefault(track, []).append((at_ns, event.double_counter_value))
    elif event.type == TrackEvent.TYPE_SLICE_END:
        top = stack.pop()
        top.dur = at_ns - top.ts
    else:
        names, categories, arguments = (interned[kind] for kind in _INTERNED)
        noted = {
            arguments[note.name_iid]: getattr(note, str(note.WhichOneof("value")))
            for note in event.debug_annotations
        }
        is_slice = event.type == TrackEvent.TYPE_SLICE_BEGIN
        name, category = names[event.name_iid], categories[event.category_iids[0]]
        begun = Slice(at_ns, -1 if is_slice else 0, track, name, category, len(stack), noted)
        result.slices.append(begun)
        if is_slice:
            stack.append(begun)


@pytest.fixture
def parsed() -> Callable[[bytes], ReadTrace]:
    """Read a trace; the schema is in the extra `dev`."""
    pytest.importorskip("perfetto")
    return read_trace
