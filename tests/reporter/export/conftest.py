"""A trace in Chrome's JSON format, put together as Perfetto's trace processor does."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from decimal import Decimal
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
    clocks: dict[str, int] = field(default_factory=dict)

    def named(self, name: str, category: str | None = None) -> list[Slice]:
        """The slices of a name, as `WHERE name = … AND category = …` finds them."""
        return [
            item
            for item in self.slices
            if item.name == name and (category is None or item.category == category)
        ]


def read_trace(content: bytes) -> ReadTrace:
    """Parse a trace: events in the order of time on each track, those of one time as the file has them."""
    parsed = json.loads(content, parse_float=Decimal)
    result = ReadTrace(clocks=parsed["otherData"])
    names: dict[tuple[int, int | None], str] = {}
    events = []
    for event in parsed["traceEvents"]:
        if event["ph"] != "M":
            events.append((int(Decimal(event["ts"]) * 1000), event))
        elif event["name"].endswith("_name"):
            names[event["pid"], event.get("tid")] = event["args"]["name"]
    events.sort(key=lambda event: event[0])
    open_slices: dict[tuple[str, ...], list[Slice]] = {}
    for at_ns, event in events:
        places = [(event["pid"], None), (event["pid"], event.get("tid"))]
        track = tuple(names[place] for place in dict.fromkeys(places))
        _apply(result, at_ns, event, track, open_slices.setdefault(track, []))
    return result


def _apply(result: ReadTrace, at_ns: int, event: Any, track: tuple[str, ...], stack: list[Slice]) -> None:
    if event["ph"] == "C":
        ((unit, value),) = event["args"].items()
        result.counters.setdefault((*track, event["name"]), []).append((at_ns, float(value)))
        result.units[*track, event["name"]] = unit
    elif event["ph"] == "E":
        top = stack.pop()
        top.dur = at_ns - top.ts
    else:
        noted = {
            name: float(value) if isinstance(value, Decimal) else value
            for name, value in event.get("args", {}).items()
        }
        is_slice = event["ph"] == "B"
        begun = Slice(at_ns, -1 if is_slice else 0, track, event["name"], event["cat"], len(stack), noted)
        result.slices.append(begun)
        if is_slice:
            stack.append(begun)


@pytest.fixture
def parsed() -> Callable[[bytes], ReadTrace]:
    """Read a trace."""
    return read_trace
