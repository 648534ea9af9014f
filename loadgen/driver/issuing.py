"""Issuing: one worker's share of each phase, in an open or a closed loop, until a limit or a stop.

An open loop is one seeded schedule, of which each worker issues every N-th request. In a closed loop each
worker has its part of the users, and every user claims the number of its next request from a counter that
all workers pass. Either way request k asks the same sample, however many workers there are.

What is scheduled, claimed and counted here are sessions of one turn or several
(`loadgen.driver.session_kind`); issuing is over when the last turn has left.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, Final, assert_never

from loadgen.driver.client.failure import Failure
from loadgen.driver.load import Closed, Offline, Open, TraceArrivals
from loadgen.driver.phase import RequestNumbers, Shard
from loadgen.driver.progress import SessionProgress
from loadgen.driver.requests.session_turns import Turns
from loadgen.driver.requests.think_time import ThinkTime
from loadgen.driver.system.clock import first_to_end
from loadgen.driver.user_sessions.session_source import ClaimedSessions, SessionSource

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Iterator

    from loadgen.driver.phase import Phase
    from loadgen.driver.plan import Plan
    from loadgen.driver.requests.concurrency_limit import ConcurrencyLimit
    from loadgen.driver.requests.request_source import RequestSource
    from loadgen.driver.requests.turn_protocols import PreparedTurns, Room, TurnRunner
    from loadgen.driver.session_kind import SessionHost, UserSession
    from loadgen.driver.system.clock import Clock
    from loadgen.driver.user_sessions.user_spans import UserSpan

NO_CONNECTION: Final = frozenset({Failure.CLIENT_LIMIT, Failure.REFUSED, Failure.DNS, Failure.TLS})
NO_CONNECTION_PAUSE_S: Final = 0.1
"""How long a user of the closed loop waits after a request that got no connection: there is no server to
measure, and a log of nothing but refusals is useless."""

YIELD_EVERY: Final = 8
"""How many requests that are due together leave in one turn of the event loop: what the first ones bring must
not lie unread until the last one has left."""


class Issuer:
    """Issues one share of a plan, or the whole: see `loadgen.driver.load_session.WorkerGroup`."""

    lead_ns: Final = 0

    def __init__(
        self,
        plan: Plan,
        source: RequestSource,
        runner: TurnRunner,
        clock: Clock,
        share: Shard = Shard(),  # noqa: B008 (a frozen value)
        claim: Callable[[], int] | None = None,
        room: Room | None = None,
        host: SessionHost | None = None,
        node: Shard = Shard(),  # noqa: B008 (a frozen value)
    ) -> None:
        self.progress = SessionProgress()
        self._node = node
        self._plan = plan
        self._request_source = source
        self._runner = runner
        self._source = SessionSource(plan, source, runner.prepare, host)
        self._clock = clock
        self._share = share
        self._claim = claim
        self._room = room
        self._exhausted = asyncio.Event()
        self._stopped = asyncio.Event()
        balance = None
        if runner.endpoints > 1:
            from loadgen.driver.requests.balance import balance_of

            balance = balance_of(plan.balance, runner.endpoints)
        thinking = ThinkTime(plan.load.think, plan.seed, clock)
        self._turns = Turns(runner, balance, thinking, clock, self.progress, self._stopped, room)
        limit = plan.load.limit
        self._slots: ConcurrencyLimit | None = None
        if limit is not None:
            from loadgen.driver.requests.concurrency_limit import ConcurrencyLimit

            self._slots = ConcurrencyLimit(share.of(limit), clock)
        self._running: set[asyncio.Task[Any]] = set()
        self._crash: BaseException | None = None
        self._relay: PreparedTurns | None = None

    def issue(self, phase: Phase) -> Coroutine[Any, Any, int]:
        """Issue a phase from the start until a limit or a stop; return the number of scheduled requests.

        From the call on, before it is awaited, `exhausted` is about this phase.
        """
        self._turns.scheduled = 0
        self._exhausted = asyncio.Event()
        return self._issue_until_over(phase)

    async def _issue_until_over(self, phase: Phase) -> int:
        if not self._stopped.is_set():
            await first_to_end(self._issue(phase), self._stopped.wait())
        self._turns.thinking.end()
        self._end_relay()
        self._require_sound()
        return self._turns.scheduled

    def exhausted(self) -> None:
        """Record that another worker issues the last request of the phase."""
        self._exhausted.set()

    async def settle(self) -> None:
        """Await everything that is in flight."""
        while self._running:
            await asyncio.wait(self._running)
        self._require_sound()

    def stop(self) -> None:
        """Stop issuing."""
        self._stopped.set()
        self._end_relay()

    def abort(self, reason: str | None = None) -> None:
        """Cancel requests in flight; the log keeps the reason."""
        self._end_relay()
        if reason is not None:
            self._runner.give_up_for(reason)
        for task in self._running:
            task.cancel()

    async def _issue(self, phase: Phase) -> None:
        load = self._plan.load
        match load:
            case Closed():
                await self._closed_loop(phase, load)
            case Open() | Offline():
                await self._open_loop(
                    phase, self._request_source.offsets(load, self._plan.arrivals_seed, phase)
                )
            case _:
                assert_never(load)

    async def _closed_loop(self, phase: Phase, load: Closed) -> None:
        """Keep this share of the users at work."""
        await self._clock.sleep_until(phase.start_ns)
        users, thinking = min(load.concurrency, phase.requests or load.concurrency), self._turns.thinking
        spans: Callable[[int], UserSpan] | None = None
        if load.ramp is not None or thinking.is_pace:
            from loadgen.driver.user_sessions.user_spans import spans_of

            spans = spans_of(load, thinking)
        numbers = RequestNumbers(load.concurrency, self._node)
        claims = ClaimedSessions(self._source, phase, numbers, self._claim, self._exhausted)
        if spans is None and not thinking.some:
            self._begin_relay(phase, claims, users)
        for started, user in enumerate(self._share.out_of(range(users))):
            if started % YIELD_EVERY == 0:
                await asyncio.sleep(0)
            span = None if spans is None else spans(user)
            self._spawn(self._user(phase, claims, self._exhausted, span))
        await self._until_all_asked(phase, self._exhausted)

    async def _user(
        self,
        phase: Phase,
        claims: ClaimedSessions,
        exhausted: asyncio.Event,
        span: UserSpan | None,
    ) -> None:
        """Begin one session after the other, with pauses between."""
        turns, thinking = self._turns, self._turns.thinking
        due_ns = phase.start_ns
        if span is not None:
            due_ns += span.begin_ns
            await thinking.until(due_ns)
        while not self._is_over(phase, scheduled_ns := self._clock.now_ns()):
            if span is not None and scheduled_ns >= phase.start_ns + span.end_ns:
                return
            if self._room is not None and self._room.full:
                await self._room.wait()
                continue
            claimed = (self._relay and self._relay.take_back()) or claims.next()
            if claimed is None:
                break
            request, session = claimed
            span = span and span.shortened(session)
            its_turns = turns.of_session(phase, request, due_ns if thinking.is_pace else scheduled_ns)
            outcome = await session.begin(its_turns)
            if outcome.failure is not None:
                # A failure can come at once, and many of them must not starve the other tasks.
                await asyncio.sleep(NO_CONNECTION_PAUSE_S if outcome.failure in NO_CONNECTION else 0)
            if thinking.some:
                due_ns = thinking.due_ns(session.number, session.last_turn, its_turns.due_ns)
                if exhausted.is_set() or self._is_over(phase, due_ns):
                    return
                await thinking.until(due_ns)
        exhausted.set()

    def _begin_relay(self, phase: Phase, claims: ClaimedSessions, users: int) -> None:
        """Begin the relay of a phase of single turns, if the runner has one."""
        if not self._source.is_single_turn:
            return
        room, alone = self._room, self._claim is None
        # The last requests go to whichever worker has a user for them.
        own_users = self._share.of(users)
        reserve, ahead = (0, None) if alone else (users, own_users)

        def claim() -> Any:
            is_full = room is not None and room.full
            return None if is_full or self._is_over(phase, self._clock.now_ns()) else claims.next(reserve)

        self._relay = self._runner.relay(self._turns, phase, claim, claims.session, own_users, ahead)

    def _end_relay(self) -> None:
        if self._relay is not None:
            relay, self._relay = self._relay, None
            relay.close()

    async def _open_loop(self, phase: Phase, offsets: Iterator[int]) -> None:
        """Begin each session on schedule, regardless of the endpoint.

        Those that are due before the end, but that this process only gets to afterwards, are scheduled and
        never issued.
        """
        turns = self._turns
        for request, offset in self._share.out_of(enumerate(offsets)):
            scheduled_ns = phase.start_ns + offset
            if not phase.has(request):
                break
            if phase.is_over(scheduled_ns):
                await self._until_end(phase)
                return
            if self._room is not None and self._room.full:
                await self._room.wait()
            if phase.is_over(self._clock.now_ns()):
                turns.scheduled += 1
                continue
            session = self._source.session(phase, request, self._share.workers)
            # Late requests leave in batches, between which answers are read.
            if scheduled_ns > self._clock.now_ns() or turns.scheduled % YIELD_EVERY == 0:
                await self._clock.sleep_until(scheduled_ns)
            if self._slots is None:
                self._spawn(session.begin(turns.of_session(phase, request, scheduled_ns)))
            else:
                await self._begin_in_a_slot(phase, request, session, scheduled_ns, self._slots)
        else:
            # The time after the last arrival is part of the load; but a trace ends with its last request.
            load = self._plan.load
            if not (isinstance(load, Open) and isinstance(load.arrivals, TraceArrivals)):
                await self._until_end(phase)
        await self._until_all_asked(phase)

    async def _begin_in_a_slot(
        self, phase: Phase, request: int, session: UserSession, scheduled_ns: int, slots: ConcurrencyLimit
    ) -> None:
        """Begin a session as soon as a slot is free, unless the phase has ended by then."""
        if (free_ns := await slots.acquire(phase)) is None:
            self._turns.scheduled += 1
            return
        held_until_ns = free_ns if free_ns > scheduled_ns else None
        turns = self._turns.of_session(phase, request, scheduled_ns, held_until_ns)
        task = self._spawn(session.begin(turns))
        task.add_done_callback(lambda _: slots.release())

    async def _until_end(self, phase: Phase) -> None:
        if phase.end_ns is not None:
            await self._clock.sleep_until(phase.end_ns)

    async def _until_all_asked(self, phase: Phase, exhausted: asyncio.Event | None = None) -> None:
        """Return when no request and no turn is left to issue, or the time for that is over."""

        async def all_asked() -> None:
            if exhausted is not None:
                await exhausted.wait()
            await self._turns.all_closed()

        if phase.end_ns is None:
            await all_asked()
        else:
            await first_to_end(all_asked(), self._clock.sleep_until(phase.end_ns))

    def _is_over(self, phase: Phase, at_ns: int) -> bool:
        return self._stopped.is_set() or phase.is_over(at_ns)

    def _spawn(self, work: Coroutine[Any, Any, Any]) -> asyncio.Task[Any]:
        task = asyncio.create_task(work)
        self._running.add(task)
        task.add_done_callback(self._ended)
        return task

    def _ended(self, task: asyncio.Task[Any]) -> None:
        self._running.discard(task)
        if not task.cancelled() and (crash := task.exception()) is not None:
            self._crash = self._crash or crash
            self._stopped.set()

    def _require_sound(self) -> None:
        """Raise a bug: an exception in a turn is not a failure of a request."""
        if self._crash is not None:
            raise self._crash
