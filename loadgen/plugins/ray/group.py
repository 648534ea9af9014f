"""Several nodes that issue as one: nodes share the load, and start at one moment on their clocks."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, Final

from loadgen.driver.client.failure import Failure
from loadgen.driver.early_end import EarlyEnd
from loadgen.driver.errors import DriverError, WorkerLostError
from loadgen.driver.progress import SessionProgress
from loadgen.plugins.ray.node_handle import SET_UP_TIMES, SILENCE_S, NodeHandle
from recorder.event import Event, EventType
from workloads.errors import WorkloadError

if TYPE_CHECKING:
    from collections.abc import Coroutine, Mapping, Sequence

    from loadgen.driver.phase import Phase
    from loadgen.driver.plan import Plan
    from loadgen.driver.requests.turn import Emit
    from loadgen.driver.stop import Stop
    from loadgen.driver.system.clock import Clock
    from loadgen.plugins.ray.node_handle import ClockExchange
    from loadgen.plugins.ray.node_links import NodeLink

LOST: Final = "node_lost"
"""The reason of the end of a session that lost a node; also the code of the finding."""

LOOK_S: Final = 0.5
"""How often a node is asked for its status; many nodes less often, in all `MOST_LOOKS` times per second."""

MOST_LOOKS: Final = 200

READING_S: Final = 1.0
"""How often a clock is read during the session."""

CLOCKS_AT_ONCE: Final = 8

SILENT_S: Final = 2.0
"""A node that does not answer for so long is named in a finding."""

_COUNTED_AGAIN_S: Final = 0.001
_LEAST_LEAD_NS: Final = 100_000_000
_LEAD_PER_NODE_NS: Final = 2_000_000
_TRIPS: Final = 10
"""A phase is announced this many of the longest round trips ahead."""

_SHARED: Final = frozenset(
    {
        EventType.TEST_STARTED,
        EventType.PHASE_STARTED,
        EventType.STOP_PERFORMANCE_TRACKING,
        EventType.PHASE_ENDED,
        EventType.TEST_ENDED,
    }
)
"""What every log says of the session: the coordinator's, and each node's own."""


class NodeGroup:
    """The nodes of a session; see `loadgen.driver.load_session.WorkerGroup`.

    Args:
        ends_on_loss: Whether a node that is lost ends it; else the others continue.
        silence_s: A node that says nothing for so long is lost.
    """

    def __init__(
        self,
        links: Sequence[NodeLink],
        plan: Plan,
        emit: Emit,
        clock: Clock,
        stop: Stop,
        *,
        ends_on_loss: bool = True,
        silence_s: float = SILENCE_S,
    ) -> None:
        self.progress = SessionProgress()
        self.nodes = [NodeHandle(link, clock, self._on_loss, silence_s) for link in links]
        self._emit = emit
        self._clock = clock
        self._stop = stop
        self._ends_on_loss = ends_on_loss
        self._early_end = EarlyEnd(plan, stop, emit, clock, self.abort)
        self._tasks: set[asyncio.Task[Any]] = set()
        self._watching: list[asyncio.Task[None]] = []

    @property
    def lead_ns(self) -> int:
        """The lead time for announcing a phase, so that no node starts late."""
        readings = [node.reading for node in self.nodes if node.reading is not None]
        longest_ns = max((reading.round_trip_ns for reading in readings), default=0)
        return max(_LEAST_LEAD_NS, _TRIPS * longest_ns) + len(self.nodes) * _LEAD_PER_NODE_NS

    @property
    def in_flight(self) -> int:
        """How many requests are under way, as far as the nodes have reported."""
        return self.progress.in_flight

    def tell(self, event: Event) -> None:
        """Take an event of the session: for the coordinator's log, and for each node's."""
        self._emit(event)
        if event.type in _SHARED:
            for node in self.nodes:
                node.unsaid.append(event)

    # Before and after the session…

    async def set_up(self, configs: Sequence[Any], *values: Any) -> None:
        """Set every node up, each with a separate configuration.

        Raises:
            WorkerLostError: A node, or a worker on one, will never be ready.
            DriverError, WorkloadError: What prevents a node from being ready.
        """
        pairs = zip(self.nodes, configs, strict=True)
        self._watching = [
            asyncio.create_task(node.keep_asking(SET_UP_TIMES, READING_S)) for node in self.nodes
        ]
        try:
            await asyncio.gather(*(_set_up(node, config, *values) for node, config in pairs))
        except BaseException:
            await self._watch_no_more()
            raise

    async def ask_all(self, method: str, *values: Any) -> list[Any]:
        """Call a method of all nodes; None for a lost node."""
        return await asyncio.gather(*(node.ask(method, *values) for node in self.nodes))

    async def begin(self) -> None:
        """Read all clocks, and watch over the nodes from now on."""
        await self._watch_no_more()
        await self._read_clocks()
        self._watching = [asyncio.create_task(self._watch(node)) for node in self.nodes]
        self._watching.append(asyncio.create_task(self._count()))

    async def end(self) -> list[Any]:
        """Have every node close the log; return each node's result, None for a lost node."""
        self._early_end.cancel()
        await self._read_clocks()
        ended = await asyncio.gather(*(node.command("end") for node in self.nodes))
        await self._watch_no_more()
        return ended

    async def _watch_no_more(self) -> None:
        for task in self._watching:
            task.cancel()
        await asyncio.gather(*self._watching, return_exceptions=True)

    async def _read_clocks(self) -> None:
        """Read all clocks, a few at a time: a round trip that waits for others says little."""
        places = asyncio.Semaphore(CLOCKS_AT_ONCE)

        async def read(node: NodeHandle) -> None:
            async with places:
                reading = await node.read_clock()
            if reading is not None:
                self._emit(reading.event())

        await asyncio.gather(*map(read, self.nodes))

    # What the session says…

    async def issue(self, phase: Phase) -> int:
        """Issue a phase from the start until a limit or a stop; return the number of scheduled requests."""
        answers = [node.command("issue", node.phase(phase)) for node in self.nodes]
        scheduled = await asyncio.gather(*answers)
        return sum(
            (node.progress or {}).get("issued", 0) if number is None else number
            for node, number in zip(self.nodes, scheduled, strict=True)
        )

    async def settle(self) -> None:
        """Await the end of all requests in flight, including the events."""
        await asyncio.gather(*(node.command("settle") for node in self.nodes))
        # The counters of the end are in the last status.
        await asyncio.gather(*(node.look() for node in self.nodes))
        self._add_up()

    def stop(self) -> None:
        """Issue nothing more."""
        self._spawn(self.ask_all("stop"))

    def abort(self, reason: str | None = None) -> None:
        """Abandon all requests in flight; the logs keep the reason."""
        self._spawn(self.ask_all("abort", reason))

    def _spawn(self, work: Coroutine[Any, Any, Any]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    # What nodes say…

    async def _watch(self, node: NodeHandle) -> None:
        """Poll a node's status, repeatedly, and read the clock from the replies."""
        pause_s = max(LOOK_S, len(self.nodes) / MOST_LOOKS)
        exchanges: list[ClockExchange] = []
        while (exchange := await node.look()) is not None and (status := node.status) is not None:
            if (silent_s := exchange.round_trip_ns / 1e9) > SILENT_S:
                self.find(_silent(node.shown, silent_s))
            exchanges.append(exchange)
            if exchange.sent_ns - exchanges[0].sent_ns >= READING_S * 1e9:
                self._emit(node.read(exchanges).event())
                exchanges.clear()
            if status.broken is not None:
                node.lose(f"the node's log could not be written: {status.broken}")
            elif status.stopped is not None and (self._ends_on_loss or self._all_stopped):
                self._stop.drain(status.stopped)
            await asyncio.sleep(pause_s)

    async def _count(self) -> None:
        """Add up the counters of all nodes, repeatedly: 20 µs a node."""
        while True:
            await asyncio.sleep(max(LOOK_S, len(self.nodes) * _COUNTED_AGAIN_S))
            self._add_up()

    @property
    def _all_stopped(self) -> bool:
        return all(
            node.lost is not None or (node.status is not None and node.status.stopped is not None)
            for node in self.nodes
        )

    def _add_up(self) -> None:
        self.progress.add_up(node.progress for node in self.nodes if node.progress is not None)
        self._early_end.look(self.progress)

    def _on_loss(self, node: NodeHandle) -> None:
        """Count the requests that were open in a node that is gone as failed, and end the session perhaps."""
        if self._ends_on_loss or self._all_stopped:
            self._stop.drain(LOST)
        lost = 0
        if node.status is not None:
            lost = node.status.progress["in_flight"]
            errors = node.status.progress["errors"]
            errors[Failure.WORKER_LOST.value] = errors.get(Failure.WORKER_LOST.value, 0) + lost
            node.status.progress["in_flight"] = 0
            self._add_up()
        outcome = "the run was ended" if self._ends_on_loss else "the other nodes continued"
        self.find(
            {
                "code": LOST,
                "severity": "error",
                "message": f"{node.shown} was lost ({node.lost}), and {outcome}. {lost} requests in flight "
                "on that node count as failed (worker_lost); the rest of the node's share was never issued.",
                "remedy": "Check the node's system log for the cause, such as lack of memory. Repair or "
                "leave out the node, and run again.",
            }
        )

    def find(self, finding: Mapping[str, Any]) -> None:
        """Record a finding."""
        self._emit(Event(EventType.FINDING, self._clock.now_ns(), data=finding))


def _silent(node: str, silent_s: float) -> dict[str, Any]:
    """The finding on a node that did not answer for a while, and then did."""
    return {
        "code": "node_silent",
        "severity": "warning",
        "message": f"{node} did not answer for {silent_s:.1f} s, stopped or without CPU or network. The node "
        "may have issued requests late and read answers late.",
        "remedy": "Give that node more CPU, memory or network, or replace the node.",
    }


async def _set_up(node: NodeHandle, *values: Any) -> None:
    try:
        await node.ask("set_up", *values)
    except (DriverError, WorkloadError) as error:
        raise type(error)(f"{node.shown}: {error}") from error
    if node.lost is not None:
        raise WorkerLostError(f"{node.shown} was lost before the session began: {node.lost}")
