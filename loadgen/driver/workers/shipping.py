"""How a worker's events reach the parent: as rows, many at a time, and soon.

What the parent does not take yet waits here. When it is too much, the worker must issue nothing that would
bring more: it keeps what it has, and says for how long it was held up.
"""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, Any, Final

import orjson

from loadgen.driver.client.compiled import compiled_function
from loadgen.driver.workers.framing import Outbox, WorkerMessage, message
from recorder import schema

if TYPE_CHECKING:
    import socket
    from collections.abc import Callable, Sequence

    from loadgen.driver.workers.framing import QueueBounds
    from recorder.event import Event

INTERVAL_S: Final = 0.04
"""An event waits so long for others to travel with."""

MOST_EVENTS: Final = 512
"""How many travel together at most: to encode them takes less than half a millisecond."""

ROOM_AGAIN: Final = 0.5
"""Once it was full, issuing goes on when no more than this share of the bounds waits."""

_NS_PER_MS: Final = 1e6

_compiled_rows: Callable[..., list[schema.Row]] | None = compiled_function("rows")


class Shipper:
    """Ships events, and rows from `sources`, in batches: a `loadgen.driver.requests.turn_protocols.Room`."""

    def __init__(
        self,
        sock: socket.socket,
        bounds: QueueBounds,
        sources: Sequence[Callable[[int], tuple[bytes, int] | None]] = (),
    ) -> None:
        self.full = False
        self._loop = asyncio.get_running_loop()
        self._outbox = Outbox(sock, self._loop, self._on_sent)
        self._bounds = bounds
        self._sources = sources
        self._events: list[Event] = []
        self._since_ns = 0
        self._timer: asyncio.TimerHandle | None = None
        self._room = asyncio.Event()
        self._peak_events = 0
        self._held_since_ns: int | None = None
        self._held_ns = 0

    def put(self, event: Event) -> None:
        """Queue an event, not yet encoded."""
        if not self._events:
            self._since_ns = time.monotonic_ns()
            self._timer = self._loop.call_later(INTERVAL_S, self.ship)
        self._events.append(event)
        if len(self._events) >= MOST_EVENTS:
            self.ship()

    def tell(self, kind: WorkerMessage, *values: Any) -> None:
        """Say something, after all the events so far."""
        self._send(message(kind, *values))

    def ship(self) -> None:
        """Ship the queued events."""
        self._send()

    def _send(self, last: bytes = b"") -> None:
        """Send the queued events and a final frame together, so that the parent wakes once."""
        events, self._events = self._events, []
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        frames, count = [last], len(events)
        if events:
            frames.insert(0, message(WorkerMessage.ROWS, self._since_ns, rows_of(events)))
        # What compiled code has of a request comes before what Python adds.
        for source in self._sources:
            if (rows := source(WorkerMessage.ROWS)) is not None:
                frames.insert(0, rows[0])
                count += rows[1]
        self._peak_events = max(self._peak_events, self._outbox.events + count)
        if any(frames):
            self._outbox.send(b"".join(frames), count)
        if self._holds_more_than(1):
            self.full = True
            self._room.clear()

    @property
    def waiting_bytes(self) -> int:
        """The shipped bytes that the parent has not taken."""
        return self._outbox.bytes

    async def wait(self) -> None:
        """Return when there is room again."""
        if self.full:
            self._held_since_ns = self._held_since_ns or time.monotonic_ns()
            await self._room.wait()

    def reading(self) -> dict[str, Any]:
        """The figures since the last reading: most waiting events, and the time that issuing was held up."""
        now_ns, held_ns, peak_events = time.monotonic_ns(), self._held_ns, self._peak_events
        if self._held_since_ns is not None:
            held_ns += now_ns - self._held_since_ns
            self._held_since_ns = now_ns
        self._held_ns, self._peak_events = 0, self._outbox.events
        return {"backlog_events": peak_events, "held_up_ms": round(held_ns / _NS_PER_MS, 3)}

    def _holds_more_than(self, share: float) -> bool:
        bounds, outbox = self._bounds, self._outbox
        return outbox.events > share * bounds.backlog_events or outbox.bytes > share * bounds.backlog_bytes

    def _on_sent(self) -> None:
        if not self.full or self._holds_more_than(ROOM_AGAIN):
            return
        self.full = False
        self._room.set()
        if self._held_since_ns is not None:
            self._held_ns += time.monotonic_ns() - self._held_since_ns
            self._held_since_ns = None


def rows_of(events: list[Event]) -> list[schema.Row]:
    """The events as rows; each event is dropped as soon as encoded."""
    if _compiled_rows is not None:
        return _compiled_rows(events, orjson.dumps, schema.row)
    events.reverse()
    return [schema.row(events.pop()) for _ in range(len(events))]
