"""Shipping: events arrive as rows, soon and in order; too many that wait hold up what would bring more."""

from __future__ import annotations

import asyncio
import socket
import time
from contextlib import asynccontextmanager
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from loadgen.driver.workers.framing import FrameReader, QueueBounds, WorkerMessage, unmarshalled
from loadgen.driver.workers.shipping import MOST_EVENTS, Shipper, rows_of
from recorder import schema
from recorder.event import Event, EventType

if TYPE_CHECKING:
    from collections.abc import AsyncIterator


def event(number: int) -> Event:
    """An event with some data."""
    return Event(
        EventType.COMPLETE, number, f"request-{number}", {"status": 200, "texts": {"output": "é" * 50}}
    )


class Parent:
    """The other end: reads what is shipped, but only when the test says so."""

    def __init__(self, sock: socket.socket) -> None:
        sock.settimeout(0)
        self.messages: list[tuple[Any, ...]] = []
        self._sock = sock
        self._frames = FrameReader()

    async def read(self) -> None:
        """Read what comes next."""
        data = await asyncio.get_running_loop().sock_recv(self._sock, 262_144)
        self.messages += [unmarshalled(payload) for payload in self._frames.feed(data)]

    @property
    def rows(self) -> list[schema.Row]:
        """Every event that has arrived."""
        return [row for kind, *values in self.messages if kind == WorkerMessage.ROWS for row in values[1]]


@asynccontextmanager
async def shipping(bounds: QueueBounds = QueueBounds()) -> AsyncIterator[tuple[Shipper, Parent]]:  # noqa: B008 (frozen)
    """A shipper and its parent."""
    ours, theirs = socket.socketpair()
    with ours, theirs:
        ours.settimeout(0)
        yield Shipper(ours, bounds), Parent(theirs)


def test_a_few_events_travel_together_and_soon() -> None:
    """They are shipped unasked, with the time since when they have waited."""

    async def scenario() -> None:
        async with shipping() as (shipper, parent):
            before_ns = time.monotonic_ns()
            for number in range(3):
                shipper.put(event(number))
            await parent.read()
            ((kind, since_ns, rows),) = parent.messages
            assert kind == WorkerMessage.ROWS
            assert before_ns <= since_ns <= time.monotonic_ns()
            assert rows == [schema.row(event(number)) for number in range(3)]

    asyncio.run(scenario())


def test_many_events_do_not_wait() -> None:
    """A full batch leaves at once, without a turn of the event loop."""

    async def scenario() -> None:
        async with shipping() as (shipper, parent):
            for number in range(MOST_EVENTS):
                shipper.put(event(number))
            assert shipper.reading()["backlog_events"] == MOST_EVENTS
            await parent.read()
            assert len(parent.rows) == MOST_EVENTS

    asyncio.run(scenario())


def test_what_is_said_comes_after_what_has_happened() -> None:
    """A worker that says that nothing is in flight has sent all of its events before."""

    async def scenario() -> None:
        async with shipping() as (shipper, parent):
            shipper.put(event(1))
            shipper.tell(WorkerMessage.SETTLED)
            await parent.read()
            assert [kind for kind, *_ in parent.messages] == [WorkerMessage.ROWS, WorkerMessage.SETTLED]

    asyncio.run(scenario())


def test_too_much_that_waits_holds_up_the_issuing() -> None:
    """Until half of it is gone; nothing is lost, and the telemetry has both."""

    async def scenario() -> None:
        async with shipping(QueueBounds(backlog_events=2 * MOST_EVENTS)) as (shipper, parent):
            put = 0
            while not shipper.full:
                shipper.put(event(put))
                put += 1
            held_up = asyncio.create_task(shipper.wait())
            await asyncio.sleep(0)
            assert not held_up.done()
            while shipper.full:
                await parent.read()
            await held_up
            reading = shipper.reading()
            assert reading["backlog_events"] > 2 * MOST_EVENTS
            assert reading["held_up_ms"] > 0
            assert shipper.reading()["held_up_ms"] == 0
            shipper.ship()
            while len(parent.rows) < put:
                await parent.read()
            assert [at_ns for _, at_ns, *_ in parent.rows] == list(range(put))

    asyncio.run(scenario())


def test_the_time_that_is_held_up_still_shows_while_it_lasts() -> None:
    """A reading in the middle has its part, and the next one the rest."""

    async def scenario() -> None:
        async with shipping(QueueBounds(backlog_bytes=1)) as (shipper, _):
            while not shipper.full:
                shipper.put(event(1))
            waiting = asyncio.create_task(shipper.wait())
            await asyncio.sleep(0)
            assert shipper.reading()["held_up_ms"] > 0
            assert shipper.reading()["held_up_ms"] > 0
            waiting.cancel()

    asyncio.run(scenario())


def test_with_room_there_is_no_wait() -> None:
    """And nothing is held up."""

    async def scenario() -> None:
        async with shipping() as (shipper, _):
            await shipper.wait()
            assert shipper.reading()["held_up_ms"] == 0

    asyncio.run(scenario())


class _Bytes(bytes):
    """Bytes all the same."""


PAYLOADS = [
    None,
    {},
    {"reused": True},
    {"texts": None, "a": "é"},
    {"texts": {"output": "é"}, "chunk_gaps_us": b"\0\1\2\3", "status": 200},
    {"chunk_gaps_us": b""},
    {"chunk_gaps_us": _Bytes(b"ab")},
    {"chunk_gaps_us": [1], "texts": []},
    {"texts": {1: 2}, 3: "a key that is no text"},
    {"a": object()},
    {"texts": "\ud800"},
    "a text",
    7,
    MappingProxyType({"texts": {"output": ""}, "a": 1}),
]


def test_compiled_code_makes_the_same_rows() -> None:
    """Of any payload; the payloads stay as they are, and the events are let go of."""
    events = [Event(EventType.COMPLETE, 2**62, "request", payload) for payload in PAYLOADS]
    events.append(Event(EventType.TELEMETRY, 5))
    before = [repr(event) for event in events]
    shipped = list(events)
    rows = rows_of(shipped)
    assert rows == list(map(schema.row, events))
    assert {type(code) for code, *_ in rows} == {int}
    assert [repr(event) for event in events] == before
    assert not any(shipped)
