"""One node of a session, from the coordinator's side: clock, counters, and end."""

from __future__ import annotations

import asyncio
from math import ceil
from typing import TYPE_CHECKING, Any, Final

from lazy_dataclasses import dataclass, replace
from loadgen.driver.client.timeouts import TICKS, Deadlines, TimeLimit
from loadgen.driver.errors import NodeGoneError
from recorder.shards import MAX_DRIFT_PPM, ClockReading

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from loadgen.driver.phase import Phase
    from loadgen.driver.system.clock import Clock
    from loadgen.plugins.ray.node_links import NodeLink, NodeStatus
    from recorder.event import Event

_RESOLUTION_NS: Final = 1_000
"""Stamps of the two clocks are rounded, and a reading is written in µs."""

SILENCE_S: Final = 30.0
"""A node that says nothing for so long is taken for dead."""

SET_UP_TIMES: Final = 4.0
"""How many times as long it may say nothing while it is set up: it loads what it needs."""

ROUND_TRIPS: Final = 16
"""How many exchanges a reading before and after a session has."""


@dataclass(frozen=True, slots=True)
class ClockExchange:
    """A node's answer to a request for its time.

    Attributes:
        sent_ns: When it was asked, on the coordinator's clock.
        node_ns: The answer: the node's clock.
        received_ns: When the answer was there, on the coordinator's clock.
    """

    sent_ns: int
    node_ns: int
    received_ns: int

    @property
    def round_trip_ns(self) -> int:
        """The round-trip time."""
        return self.received_ns - self.sent_ns

    @property
    def middle_ns(self) -> int:
        """Half way between question and answer, on the coordinator's clock."""
        return (self.sent_ns + self.received_ns) // 2


def reading_of(node: str, exchanges: Sequence[ClockExchange]) -> ClockReading:
    """The offset at the moment of the shortest exchange.

    Each exchange bounds it: from below by the question, from above by the answer, both wider by the drift
    that is possible in the time between.
    """
    shortest = min(exchanges, key=lambda exchange: exchange.round_trip_ns)
    at_ns = shortest.middle_ns
    low_ns = max(exchange.sent_ns - exchange.node_ns - _drift_ns(exchange, at_ns) for exchange in exchanges)
    high_ns = min(
        exchange.received_ns - exchange.node_ns + _drift_ns(exchange, at_ns) for exchange in exchanges
    )
    # Bounds that contradict each other are of clocks that drift apart faster: then the truth is about there.
    return ClockReading(
        node=node,
        at_ns=at_ns,
        offset_ns=(low_ns + high_ns) // 2,
        uncertainty_ns=abs(high_ns - low_ns) // 2 + _RESOLUTION_NS,
        round_trip_ns=shortest.round_trip_ns,
    )


def _drift_ns(exchange: ClockExchange, at_ns: int) -> int:
    """How far the clocks may have drifted apart between the node's stamp and a moment."""
    between_ns = abs(exchange.middle_ns - at_ns) + exchange.round_trip_ns / 2
    return ceil(between_ns * MAX_DRIFT_PPM / 1e6)


class NodeHandle:
    """A node, in the running event loop.

    Attributes:
        reading: Where its clock stood last; None before the first reading.
        unsaid: Events of the session that it will hear of with the next message, on the coordinator's clock.
        lost: How it was lost; None while it is not.
    """

    def __init__(
        self,
        link: NodeLink,
        clock: Clock,
        on_loss: Callable[[NodeHandle], None],
        silence_s: float = SILENCE_S,
    ) -> None:
        self.link = link
        self.name = link.name
        self.reading: ClockReading | None = None
        self.status: NodeStatus | None = None
        self.unsaid: list[Event] = []
        self.lost: str | None = None
        self._clock = clock
        self._on_loss = on_loss
        self._silence_s = silence_s
        self._gone = asyncio.Event()

    @property
    def shown(self) -> str:
        """The name and the host, for messages."""
        return f"{self.name} ({self.link.host})"

    @property
    def progress(self) -> Mapping[str, Any] | None:
        """The last reported counters."""
        return None if self.status is None else self.status.progress

    async def ask(self, method: str, *values: Any) -> Any:
        """Call a method of the node; None for a node that is lost, before or during the call."""
        if self.lost is not None:
            return None
        call = asyncio.ensure_future(self.link.call(method, *values))
        gone = asyncio.ensure_future(self._gone.wait())
        try:
            await asyncio.wait([call, gone], return_when=asyncio.FIRST_COMPLETED)
            if call.done():
                return call.result()
        except NodeGoneError as error:
            self.lose(str(error))
        finally:
            for waiting in (call, gone):
                waiting.cancel()
            await asyncio.gather(call, gone, return_exceptions=True)
        return None

    async def heard(self, method: str, times: float = 1.0) -> Any:
        """Call a method that answers at once; None for a lost or silent node."""
        silence_s = times * self._silence_s
        try:
            # A coordinator that was stopped for so long does not take all nodes for silent.
            with TimeLimit(Deadlines(silence_s / TICKS, TimeLimit.tick)):
                return await self.ask(method)
        except TimeoutError:
            self.lose(f"no message for {silence_s:g} s")
            return None

    async def keep_asking(self, times: float, pause_s: float) -> None:
        """Call a method that answers at once, with pauses, until the node is lost; see `heard`."""
        while self.lost is None:
            await self.heard("started", times)
            await asyncio.sleep(pause_s)

    async def command(self, method: str, *values: Any) -> Any:
        """Call a method with the session events that are new to the node, on the node's clock."""
        events, self.unsaid = [self._on_its_clock(event) for event in self.unsaid], []
        return await self.ask(method, events, *values)

    def lose(self, how: str) -> None:
        """Mark the node as lost."""
        if self.lost is None:
            self.lost = how
            self._gone.set()
            self.link.kill()
            self._on_loss(self)

    async def look(self) -> ClockExchange | None:
        """Request the status, which is also a clock exchange; None for a lost node."""
        sent_ns = self._clock.now_ns()
        status: NodeStatus | None = await self.heard("status")
        if status is None:
            return None
        self.status = status
        return ClockExchange(sent_ns, status.now_ns, self._clock.now_ns())

    async def read_clock(self) -> ClockReading | None:
        """Compare the clocks now, by several exchanges; None where the node is lost."""
        looks = [await self.look() for _ in range(ROUND_TRIPS)]
        exchanges = [exchange for exchange in looks if exchange is not None]
        return self.read(exchanges) if exchanges else None

    def read(self, exchanges: Sequence[ClockExchange]) -> ClockReading:
        """Compare the clocks by exchanges, at least one."""
        self.reading = reading_of(self.name, exchanges)
        return self.reading

    # On its clock…

    def phase(self, phase: Phase) -> Phase:
        """A phase by the node's own clock."""
        end_ns = None if phase.end_ns is None else self._its_ns(phase.end_ns)
        return replace(phase, start_ns=self._its_ns(phase.start_ns), end_ns=end_ns)

    def _on_its_clock(self, event: Event) -> Event:
        return event._replace(at_ns=self._its_ns(event.at_ns))

    def _its_ns(self, at_ns: int) -> int:
        return at_ns if self.reading is None else at_ns - self.reading.offset_ns
