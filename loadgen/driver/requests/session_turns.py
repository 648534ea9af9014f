"""The turns of sessions: awaited until the due time, counted, and taken."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, Final

from loadgen.driver.requests.turn_outcome import LEFT, AnswerUse

if TYPE_CHECKING:
    from collections.abc import Coroutine, Mapping, Sequence

    from loadgen.driver.phase import Phase
    from loadgen.driver.progress import SessionProgress
    from loadgen.driver.requests.balance import Balance
    from loadgen.driver.requests.think_time import ThinkTime
    from loadgen.driver.requests.turn_outcome import TurnOutcome
    from loadgen.driver.requests.turn_protocols import Room, TurnRunner
    from loadgen.driver.system.clock import Clock
    from workloads.sample import Sample

_NOTHING: Final[Mapping[str, Any]] = {}
_MEASURED: Final = AnswerUse.MEASURED


class Turns:
    """Issues the turns of all sessions of a worker.

    Args:
        runner: Takes the turns.
        balance: Chooses an endpoint for each session; None where there is one endpoint.
        thinking: The pauses of users.
        clock: The time.
        progress: Where turns and sessions are counted.
        stopped: Set: no further turn is asked.
        room: Where the events of what is issued go, where that can be full.

    Attributes:
        scheduled: How many turns were due since this was last set to 0.
        thinking: The pauses of users.
    """

    def __init__(
        self,
        runner: TurnRunner,
        balance: Balance | None,
        thinking: ThinkTime,
        clock: Clock,
        progress: SessionProgress,
        stopped: asyncio.Event,
        room: Room | None,
    ) -> None:
        self.scheduled = 0
        self.thinking = thinking
        self.runner: Final = runner
        self.clock: Final = clock
        self.progress: Final = progress
        self._balance = balance
        self._stopped = stopped
        self._room = room
        self._open = 0
        self._all_closed = asyncio.Event()
        self._all_closed.set()

    def of_session(
        self, phase: Phase, request: int, scheduled_ns: int, free_ns: int | None = None
    ) -> SessionTurns:
        """The turns of a session that begins now; the first one is counted with this call.

        The session was due at `scheduled_ns`, and waited for a place until `free_ns`.
        """
        endpoint = 0 if self._balance is None else self._balance.choose(request)
        self.count(endpoint)
        return SessionTurns(self, phase, endpoint, scheduled_ns, free_ns)

    def count(self, endpoint: int) -> None:
        """Count a turn that leaves now. Of several that leave together each must know of those ahead."""
        self.scheduled += 1
        if self._balance is not None:
            self._balance.began(endpoint)

    def ended(self, endpoint: int) -> None:
        """Note that a counted turn is over."""
        if self._balance is not None:
            self._balance.ended(endpoint)

    def open(self) -> None:
        """Note a session with turns left to ask."""
        self._open += 1
        self._all_closed.clear()

    def close(self, count: int = 1) -> None:
        """Note that open sessions have no turn left to ask."""
        self._open -= count
        if not self._open:
            self._all_closed.set()

    async def all_closed(self) -> None:
        """Return when no session has turns left to ask."""
        await self._all_closed.wait()

    async def room(self) -> None:
        """Wait while the buffer of events is full."""
        if self._room is not None and self._room.full:
            await self._room.wait()

    def handed_over(self, ttfts_ms: Sequence[float], output_tokens: int, phase: Phase) -> None:
        """Count turns that have ended, and the prepared turns that have left in their place."""
        progress, count = self.progress, len(ttfts_ms)
        self.scheduled += count
        self.close(count)
        progress.recent_ttft_ms.extend(ttfts_ms)
        if phase.name == "performance":
            progress.issued += count
            progress.completed += count
            progress.output_tokens += output_tokens

    def why_over(self, phase: Phase, at_ns: int) -> str | None:
        """Why no turn may be issued at a moment; None where one may."""
        if self._stopped.is_set():
            return "stopped"
        return "duration" if phase.is_over(at_ns) else None

    async def take(
        self,
        sample: Sample,
        body: bytes,
        due_ns: int,
        phase: Phase,
        endpoint: int,
        more: Mapping[str, Any],
        use: AnswerUse,
    ) -> TurnOutcome:
        """Take one counted turn, and count the outcome."""
        progress, measured = self.progress, phase.name == "performance"
        progress.in_flight += 1
        progress.issued += measured
        try:
            outcome = await self.runner.run(sample, body, due_ns, phase.name, endpoint, more, use)
        except asyncio.CancelledError:
            progress.given_up += 1
            raise
        finally:
            progress.in_flight -= 1
            self.ended(endpoint)
        if outcome.ttft_ms is not None:
            progress.recent_ttft_ms.append(outcome.ttft_ms)
        if measured and outcome.failure is None:
            progress.completed += 1
            progress.output_tokens += outcome.output_tokens
        elif measured and outcome.failure != LEFT:
            progress.errors[str(outcome.failure)] += 1
        return outcome


class SessionTurns:
    """The turns of one session, which says when each is due.

    Args:
        turns: Those of all sessions.
        phase: The phase that the session was due in.
        endpoint: Which endpoint is asked, from 0: the same for all turns.
        scheduled_ns: When the session was due; also an attribute.
        free_ns: When there was a place for it; None where it waited for none; also an attribute.

    Attributes:
        issued: How many turns were issued.
        due_ns: When the last of them was due.
    """

    __slots__ = ("_endpoint", "_is_open", "_phase", "_turns", "due_ns", "free_ns", "issued", "scheduled_ns")

    def __init__(
        self, turns: Turns, phase: Phase, endpoint: int, scheduled_ns: int, free_ns: int | None
    ) -> None:
        self.issued = 0
        self.scheduled_ns = self.due_ns = scheduled_ns
        self.free_ns = free_ns
        self._turns = turns
        self._phase = phase
        self._endpoint = endpoint
        self._is_open = False

    @property
    def phase(self) -> str:
        """The name of the phase that the session was due in."""
        return self._phase.name

    @property
    def held(self) -> Mapping[str, Any]:
        """The wait for a place, as the log keeps the wait."""
        return _NOTHING if self.free_ns is None else {"free_ns": self.free_ns}

    def now_ns(self) -> int:
        """The time."""
        return self._turns.clock.now_ns()

    def prepare(self, sample: Sample) -> bytes:
        """Encode a request's body ahead of time."""
        return self._turns.runner.prepare(sample)

    def next_due_ns(self, number: int, turn: int) -> int:
        """The time at which the user's next turn is due, after a turn of the session with a number."""
        return self._turns.thinking.due_ns(number, turn, self.due_ns)

    def why_over(self, at_ns: int) -> str | None:
        """Why no further turn may be issued at a moment; None where one may."""
        return self._turns.why_over(self._phase, at_ns)

    async def until(self, due_ns: int) -> str | None:
        """Wait until a turn is due and can be recorded; return why none may be issued then, or None.

        Raises:
            asyncio.CancelledError: There is nothing more to ask.
        """
        await self._turns.thinking.until(due_ns)
        await self._turns.room()
        return self.why_over(self.now_ns())

    async def room(self) -> None:
        """Wait while the buffer of events is full."""
        await self._turns.room()

    def take(
        self,
        sample: Sample,
        body: bytes,
        due_ns: int,
        more: Mapping[str, Any] = _NOTHING,
        use: AnswerUse = _MEASURED,
    ) -> Coroutine[Any, Any, TurnOutcome]:
        """Issue a turn now; the coroutine follows the turn to the end.

        Args:
            sample: What is asked.
            body: See `prepare`.
            due_ns: When it was due.
            more: What else the log keeps of the issue.
            use: What the session does with the answer.
        """
        if self.issued:
            self._turns.count(self._endpoint)
        self.issued += 1
        self.due_ns = due_ns
        return self._turns.take(sample, body, due_ns, self._phase, self._endpoint, more, use)

    def open(self) -> None:
        """Say that turns follow the first one: issuing is not over before `close`, or `end`."""
        self._is_open = True
        self._turns.open()

    def close(self) -> None:
        """Say that no turn follows the next one."""
        if self._is_open:
            self._is_open = False
            self._turns.close()

    def end(self, never_asked: int = 0, why_cut: str = "") -> None:
        """Count the session, which is over.

        Args:
            never_asked: How many of its turns were never issued.
            why_cut: Why not: `failed`, `duration` or `stopped`.
        """
        self.close()
        if not self.issued:
            self._turns.ended(self._endpoint)
        if self._phase.name == "performance":
            progress = self._turns.progress
            progress.sessions += 1
            if never_asked:
                progress.cut[why_cut] += 1
                progress.never_asked += never_asked
        else:
            self._turns.progress.warmup_failed += never_asked
