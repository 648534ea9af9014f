"""Issuing: one worker's share of each phase, in an open or a closed loop, until a limit or a stop.

An open loop is one seeded schedule, of which each worker issues every N-th request. In a closed loop each
worker has its part of the users, and every user claims the number of its next request from a turnstile that
all workers pass. Either way request k asks the same sample, however many workers there are.
"""

from __future__ import annotations

import asyncio
from itertools import count
from typing import TYPE_CHECKING, Any, Final, Protocol

from loadgen import schedule
from loadgen.client.failure import Failure
from loadgen.plan import LoadKind
from loadgen.progress import Progress
from loadgen.share import Share

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Iterator, Sequence

    from loadgen.clock import Clock
    from loadgen.phase import Phase
    from loadgen.plan import Load, Plan
    from loadgen.turn import Outcome
    from workloads.sample import Sample

NO_CONNECTION: Final = frozenset({Failure.CLIENT_LIMIT, Failure.REFUSED, Failure.DNS, Failure.TLS})
NO_CONNECTION_PAUSE_S: Final = 0.1
"""How long a user of the closed loop waits after a request that got no connection: nobody is there to be
measured, and a log of nothing but refusals helps nobody."""

YIELD_EVERY: Final = 8
"""How many requests that are due together leave in one turn of the event loop: what the first ones bring must
not lie unread until the last one has left."""


class Takes(Protocol):
    """Who takes the turns; see `loadgen.turn.Asker`."""

    def prepare(self, sample: Sample) -> bytes:
        """Encode the request's body ahead of its time."""

    async def ask(self, sample: Sample, body: bytes, scheduled_ns: int, phase: str) -> Outcome:
        """Issue one request now and see it through."""


class Room(Protocol):
    """Where events wait to be taken; while it is full, nothing is issued that would bring more of them."""

    full: bool

    async def wait(self) -> None:
        """Return when there is room again."""


class Issuer:
    """Issues one share of a plan. Alone it is a whole crew: see `loadgen.session.Crew`.

    Args:
        plan: What to do.
        samples: What to ask, in this order, again from the start when they run out.
        asker: Takes the turns.
        clock: The time.
        share: The part of the load that is issued here.
        claim: Gives the number of the next request of a closed loop, where several share the numbers.
        room: Where the events of what is issued go, where that can be full.

    Attributes:
        progress: Counters of this share.
        lead_ns: A phase can begin at once.
    """

    lead_ns: Final = 0

    def __init__(
        self,
        plan: Plan,
        samples: Sequence[Sample],
        asker: Takes,
        clock: Clock,
        share: Share = Share(),  # noqa: B008 (a frozen value)
        claim: Callable[[], int] | None = None,
        room: Room | None = None,
    ) -> None:
        self.progress = Progress()
        self._plan = plan
        self._samples = samples
        self._asker = asker
        self._clock = clock
        self._share = share
        self._claim = claim
        self._room = room
        self._scheduled = 0
        self._exhausted = asyncio.Event()
        self._stopped = asyncio.Event()
        self._running: set[asyncio.Task[Any]] = set()
        self._crash: BaseException | None = None

    # What a crew is told…

    def issue(self, phase: Phase) -> Coroutine[Any, Any, int]:
        """Issue a phase from its start until a limit is reached or a stop; return how many were scheduled.

        From the call on, before it is awaited, `exhausted` is about this phase.
        """
        self._scheduled = 0
        self._exhausted = asyncio.Event()
        return self._issue_until_over(phase)

    async def _issue_until_over(self, phase: Phase) -> int:
        if not self._stopped.is_set():
            await _first(self._issue(phase), self._stopped.wait())
        self._require_sound()
        return self._scheduled

    def exhausted(self) -> None:
        """Learn that another worker issues the last request of the phase."""
        self._exhausted.set()

    async def settle(self) -> None:
        """Await everything that is in flight."""
        while self._running:
            await asyncio.wait(self._running)
        self._require_sound()

    def stop(self) -> None:
        """Issue nothing more."""
        self._stopped.set()

    def abort(self) -> None:
        """Give up what is in flight."""
        for task in self._running:
            task.cancel()

    # Issuing…

    async def _issue(self, phase: Phase) -> None:
        load = self._plan.load
        if load.kind is LoadKind.CLOSED:
            await self._closed_loop(phase, load.concurrency or 1)
        else:
            await self._open_loop(phase, _offsets(load, self._plan.seed))

    async def _closed_loop(self, phase: Phase, concurrency: int) -> None:
        """Keep this share of `concurrency` requests in flight."""
        await self._clock.sleep_until(phase.start_ns)
        claim = self._claim or count().__next__
        for user in range(self._share.of(min(concurrency, phase.requests or concurrency))):
            if user % YIELD_EVERY == 0:
                await asyncio.sleep(0)
            self._spawn(self._user(phase, claim, self._exhausted))
        if phase.end_ns is None:
            await self._exhausted.wait()
        else:
            await _first(self._exhausted.wait(), self._clock.sleep_until(phase.end_ns))

    async def _user(self, phase: Phase, claim: Callable[[], int], exhausted: asyncio.Event) -> None:
        """Ask one question after the other."""
        while not (self._stopped.is_set() or phase.is_over(self._clock.now_ns())):
            if self._room is not None and self._room.full:
                await self._room.wait()
                continue
            number = claim()
            if not phase.has(number):
                break
            scheduled_ns = self._clock.now_ns()
            self._scheduled += 1
            if phase.is_last(number):
                exhausted.set()
            sample = self._sample(phase, number)
            outcome = await self._turn(sample, self._asker.prepare(sample), scheduled_ns, phase.name)
            if outcome.failure is not None:
                # A failure can come at once, and many of them must not keep everybody else from running.
                await asyncio.sleep(NO_CONNECTION_PAUSE_S if outcome.failure in NO_CONNECTION else 0)
        exhausted.set()

    async def _open_loop(self, phase: Phase, offsets: Iterator[int]) -> None:
        """Issue each request at its time, whatever the endpoint does.

        Those that are due before the end, but that this process only gets to afterwards, are scheduled and
        never issued.
        """
        for number, offset in self._share.out_of(enumerate(offsets)):
            scheduled_ns = phase.start_ns + offset
            if not phase.has(number):
                return
            if phase.is_over(scheduled_ns):
                break
            if self._room is not None and self._room.full:
                await self._room.wait()
            if phase.is_over(self._clock.now_ns()):
                self._scheduled += 1
                continue
            sample = self._sample(phase, number)
            body = self._asker.prepare(sample)
            # Late requests leave together; now and then the answers get their turn.
            if scheduled_ns > self._clock.now_ns() or self._scheduled % YIELD_EVERY == 0:
                await self._clock.sleep_until(scheduled_ns)
            self._scheduled += 1
            self._spawn(self._turn(sample, body, scheduled_ns, phase.name))
        if phase.end_ns is not None:
            await self._clock.sleep_until(phase.end_ns)

    def _sample(self, phase: Phase, number: int) -> Sample:
        return self._samples[(phase.first_sample + number) % len(self._samples)]

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
            self._stopped.set()

    def _require_sound(self) -> None:
        """Hand a bug on: an exception in a turn is no failure of a request."""
        if self._crash is not None:
            raise self._crash


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
