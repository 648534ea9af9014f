"""A whole session: phases, load, stopping. It decides when; `turn` does."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from itertools import cycle
from typing import TYPE_CHECKING, Any, Final, Protocol

from loadgen import schedule
from loadgen.client.failure import Failure
from loadgen.plan import LoadKind
from loadgen.progress import Progress
from recorder.event import Event, EventType

if TYPE_CHECKING:
    from collections.abc import Coroutine, Iterator, Sequence

    from loadgen.clock import Clock
    from loadgen.plan import Load, Plan
    from loadgen.stop import Stop
    from loadgen.turn import Emit, Outcome
    from workloads.sample import Sample

NO_CONNECTION: Final = frozenset({Failure.CLIENT_LIMIT, Failure.REFUSED, Failure.DNS, Failure.TLS})
NO_CONNECTION_PAUSE_S: Final = 0.1
"""How long a user of the closed loop waits after a request that got no connection: nobody is there to be
measured, and a log of nothing but refusals helps nobody."""

YIELD_EVERY: Final = 32
"""How many late requests leave in one turn of the event loop."""

_SECOND: Final = 1_000_000_000


class Takes(Protocol):
    """Who takes the turns; see `loadgen.turn.Asker`."""

    def prepare(self, sample: Sample) -> bytes:
        """Encode the request's body ahead of its time."""

    async def ask(self, sample: Sample, body: bytes, scheduled_ns: int, phase: str) -> Outcome:
        """Issue one request now and see it through."""


@dataclass(slots=True)
class Issuing:
    """The issuing of one phase: what ends it (None is no limit), and how far it is.

    Attributes:
        phase: `warmup` or `performance`.
        requests: So many are issued.
        end_ns: None is scheduled from here on.
        scheduled: So many have been scheduled.
    """

    phase: str
    requests: int | None
    end_ns: int | None = None
    scheduled: int = 0

    @property
    def all_scheduled(self) -> bool:
        """Whether the number of requests is reached."""
        return self.requests is not None and self.scheduled >= self.requests

    def is_late(self, at_ns: int) -> bool:
        """Whether a moment is past the end."""
        return self.end_ns is not None and at_ns >= self.end_ns

    def is_over(self, at_ns: int) -> bool:
        """Whether nothing is scheduled at a moment any more."""
        return self.all_scheduled or self.is_late(at_ns)


class Session:
    """Runs a plan.

    Args:
        plan: What to do.
        samples: What to ask, in this order, again from the start when they run out.
        asker: Takes the turns.
        emit: Where session events go.
        clock: The time.
        stop: Says when to end early.

    Attributes:
        progress: Counters for the live view.
    """

    def __init__(
        self,
        plan: Plan,
        samples: Sequence[Sample],
        asker: Takes,
        emit: Emit,
        clock: Clock,
        stop: Stop,
    ) -> None:
        self.progress = Progress()
        self._plan = plan
        self._samples = cycle(samples)
        self._asker = asker
        self._emit = emit
        self._clock = clock
        self._stop = stop
        self._running: set[asyncio.Task[Any]] = set()
        self._crash: BaseException | None = None

    async def run(self) -> None:
        """Run every phase; return when the last request is over."""
        self._tell(EventType.TEST_STARTED)
        aborting = asyncio.create_task(self._abort_when_asked())
        try:
            if self._plan.warmup:
                await self._warm_up()
            await self._measure()
            await self._drain()
        finally:
            aborting.cancel()
        interrupted = self._stop.draining.is_set()
        self._tell(EventType.TEST_ENDED, reason="interrupted" if interrupted else "completed")

    # The phases…

    async def _warm_up(self) -> None:
        self._start_phase("warmup", requests=self._plan.warmup)
        await self._unless_stopped(self._issue(Issuing("warmup", self._plan.warmup)))
        await self._settle()
        self._tell(EventType.PHASE_ENDED, phase="warmup")

    async def _measure(self) -> None:
        plan = self._plan
        start_ns = self._start_phase("performance", duration_s=plan.duration_s, requests=plan.requests)
        end_ns = None if plan.duration_s is None else start_ns + round(plan.duration_s * _SECOND)
        issuing = Issuing("performance", plan.requests, end_ns)
        await self._unless_stopped(self._issue(issuing))
        self._tell(
            EventType.STOP_PERFORMANCE_TRACKING,
            reason=self._why_stopped(end_ns),
            scheduled=issuing.scheduled,
        )
        self._tell(EventType.PHASE_ENDED, phase="performance")

    async def _drain(self) -> None:
        self._start_phase("drain")
        await self._settle()
        self._tell(EventType.PHASE_ENDED, phase="drain")

    def _start_phase(self, phase: str, **data: Any) -> int:
        self.progress.phase = phase
        self.progress.phase_started_ns = self._tell(EventType.PHASE_STARTED, phase=phase, **data)
        return self.progress.phase_started_ns

    def _why_stopped(self, end_ns: int | None) -> str:
        if end_ns is not None and self._clock.now_ns() >= end_ns:
            return "duration"
        return "interrupted" if self._stop.draining.is_set() else "requests"

    # Issuing…

    async def _issue(self, issuing: Issuing) -> None:
        """Issue until a limit is reached."""
        load = self._plan.load
        if load.kind is LoadKind.CLOSED:
            await self._closed_loop(issuing, load.concurrency or 1)
        else:
            await self._open_loop(issuing, _offsets(load, self._plan.seed))

    async def _closed_loop(self, issuing: Issuing, concurrency: int) -> None:
        """Keep `concurrency` requests in flight."""
        exhausted = asyncio.Event()
        for _ in range(min(concurrency, issuing.requests or concurrency)):
            self._spawn(self._user(issuing, exhausted))
        if issuing.end_ns is None:
            await exhausted.wait()
        else:
            await _first(exhausted.wait(), self._clock.sleep_until(issuing.end_ns))

    async def _user(self, issuing: Issuing, exhausted: asyncio.Event) -> None:
        """Ask one question after the other."""
        while not (self._stop.draining.is_set() or issuing.is_over(self._clock.now_ns())):
            scheduled_ns = self._clock.now_ns()
            issuing.scheduled += 1
            if issuing.all_scheduled:
                exhausted.set()
            sample = next(self._samples)
            outcome = await self._turn(sample, self._asker.prepare(sample), scheduled_ns, issuing.phase)
            if outcome.failure is not None:
                # A failure can come at once, and many of them must not keep everybody else from running.
                await asyncio.sleep(NO_CONNECTION_PAUSE_S if outcome.failure in NO_CONNECTION else 0)
        exhausted.set()

    async def _open_loop(self, issuing: Issuing, offsets: Iterator[int]) -> None:
        """Issue each request at its time, whatever the endpoint does.

        Those that are due before the end, but that this process only gets to afterwards, are scheduled and
        never issued.
        """
        start_ns = self.progress.phase_started_ns
        for offset in offsets:
            scheduled_ns = start_ns + offset
            if issuing.is_over(scheduled_ns):
                break
            if issuing.is_late(self._clock.now_ns()):
                issuing.scheduled += 1
                continue
            sample = next(self._samples)
            body = self._asker.prepare(sample)
            # Late requests leave together; now and then the answers get their turn.
            if scheduled_ns > self._clock.now_ns() or issuing.scheduled % YIELD_EVERY == 0:
                await self._clock.sleep_until(scheduled_ns)
            issuing.scheduled += 1
            self._spawn(self._turn(sample, body, scheduled_ns, issuing.phase))
        if issuing.end_ns is not None and not issuing.all_scheduled:
            await self._clock.sleep_until(issuing.end_ns)

    async def _turn(self, sample: Sample, body: bytes, scheduled_ns: int, phase: str) -> Outcome:
        """Take one turn and count it."""
        progress, measured = self.progress, phase == "performance"
        progress.in_flight += 1
        progress.issued += measured
        try:
            outcome = await self._asker.ask(sample, body, scheduled_ns, phase)
        finally:
            progress.in_flight -= 1
        if outcome.ttft_ms is not None:
            progress.recent_ttft_ms.append(outcome.ttft_ms)
        if measured and outcome.failure is None:
            progress.completed += 1
            progress.output_tokens += outcome.output_tokens
        elif measured:
            progress.errors[str(outcome.failure)] += 1
        return outcome

    # Tasks…

    def _spawn(self, work: Coroutine[Any, Any, Any]) -> None:
        task = asyncio.create_task(work)
        self._running.add(task)
        task.add_done_callback(self._ended)

    def _ended(self, task: asyncio.Task[Any]) -> None:
        self._running.discard(task)
        if not task.cancelled() and (crash := task.exception()) is not None:
            self._crash = self._crash or crash
            self._stop.draining.set()

    async def _settle(self) -> None:
        """Await everything that is in flight."""
        while self._running:
            await asyncio.wait(self._running)
        if self._crash is not None:
            raise self._crash

    async def _unless_stopped(self, work: Coroutine[Any, Any, Any]) -> None:
        """Await work, but only until a request to stop; what it has started goes on."""
        if self._stop.draining.is_set():
            work.close()
            return
        await _first(work, self._stop.draining.wait())

    async def _abort_when_asked(self) -> None:
        await self._stop.aborting.wait()
        for task in self._running:
            task.cancel()

    def _tell(self, kind: EventType, **data: Any) -> int:
        at_ns = self._clock.now_ns()
        self._emit(Event(kind, at_ns, data=data or None))
        return at_ns


async def _first(*works: Coroutine[Any, Any, Any]) -> None:
    """Await the first of several to end, and give up the others."""
    tasks = [asyncio.create_task(work) for work in works]
    try:
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
    for task in done:
        task.result()


def _offsets(load: Load, seed: int) -> Iterator[int]:
    match load.kind:
        case LoadKind.CONSTANT:
            return schedule.constant(load.rate or 1.0)
        case LoadKind.POISSON:
            return schedule.poisson(load.rate or 1.0, seed)
        case _:
            return schedule.all_at_once()
