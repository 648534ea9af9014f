"""A session of the turns of a tree: each is issued when all that it waits for has ended, plus its delay.

Sessions and requests are made before they are due, on the workbench of the worker process: the tree and the
first prompts before the session begins, a later request while the turns that it waits for are asked.

A turn that fails ends its stream: the later turns of the stream, and all turns that wait for one of them, are
never asked. A prompt that does not fit the model's context ends the session.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from secrets import token_hex
from typing import TYPE_CHECKING, Any, Final

from lazy_dataclasses import dataclass, field
from loadgen.driver.requests.turn_outcome import AnswerUse, TurnOutcome
from loadgen.plugins.agentic.idle_cap import IdleCap, Pause
from loadgen.plugins.agentic.prefix_hits import counting_hits
from loadgen.plugins.agentic.tree_sample import PlayedPrompts, models_of
from loadgen.plugins.agentic.workbench import WHEN_IDLE
from recorder.event import Event, EventType
from reporter.findings.failed_requests import is_context_overflow

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Iterable

    from loadgen.driver.requests.session_turns import SessionTurns
    from loadgen.driver.session_kind import HostingWorker
    from loadgen.plugins.agentic.mid_start import SessionPosition
    from loadgen.plugins.agentic.salting import Salting
    from loadgen.plugins.agentic.tree_sample import TreeSample
    from loadgen.plugins.agentic.workbench import BenchJob, Steps, Workbench
    from workloads.sample import Sample

    Request = tuple[Sample, bytes]
    """A turn as the log keeps it, and the body that is sent."""

NEVER_ASKED: Final = TurnOutcome("cancelled", None, 0)
"""The outcome of a session that ended before its first turn."""

MS: Final = 1_000_000
AHEAD_NS: Final = 1_000 * MS
"""How long before a turn is due its request is made; requests take memory."""

FAILED: Final = "failed"
OVERFLOW: Final = "context_overflow"


@dataclass(frozen=True, slots=True)
class Playing:
    """How a session is played.

    Attributes:
        speed: How many times as fast as recorded the delays pass.
        salting: Makes prompts unique; None for no salt.
        models: See `models_of`.
        caps: The caps on idle time: of all sessions, and of this one.
        position: Where the session begins; None for the first turn.
        sooner_ns: How much earlier than recorded the turns after the position are due.
        conversation: The id of the session in the log.
    """

    speed: float = 1.0
    salting: Salting | None = None
    models: tuple[str, ...] = ()
    caps: tuple[IdleCap, ...] = ()
    position: SessionPosition | None = None
    sooner_ns: Callable[[], int] = int
    conversation: str = field(default_factory=lambda: token_hex(8))

    @property
    def facts(self) -> dict[str, Any]:
        """What the log keeps of each request."""
        salt = {} if self.salting is None else {"salt": self.salting.text}
        return {"conversation": self.conversation, **salt}


class TreeSession:
    """A session tree; see `loadgen.driver.session_kind.UserSession`.

    Args:
        number: The number of the session in the run.
        sample: The tree.
        playing: How the session is played.
        worker: Encodes requests, and logs events.
        bench: Makes the tree and the requests.
    """

    last_turn = 0

    def __init__(
        self,
        number: int,
        sample: TreeSample,
        playing: Playing,
        worker: HostingWorker,
        bench: Workbench,
    ) -> None:
        self.number = number
        self._sample = sample
        self._playing = playing
        self._emit, self._prepare = worker.emit, worker.prepare
        self._bench = bench
        self._facts = playing.facts
        self._never: dict[int, str] = {}
        self._pauses: dict[int, asyncio.Task[None]] = {}
        self._requests: dict[int, BenchJob[Request]] = {}
        self._ending = "completed"
        self._last = NEVER_ASKED
        self._making = bench.begin(self._make())

    def _make(self) -> Steps[None]:
        """Make the tree, and begin the requests of the turns that wait for none."""
        sample = self._sample
        self._tree = tree = yield from sample.corpus.making(sample.number)
        self.last_turn = len(tree.turns) - 1
        self._prompts = PlayedPrompts(sample, tree, models_of(tree, self._playing.models))
        self._use = AnswerUse.FOLLOWED if self._prompts.needs_answers else AnswerUse.MEASURED
        position = self._playing.position
        past = frozenset(() if position is None else position.past)
        yield from self._prompts.skipping(past)
        self._left = set(range(len(tree.turns))) - past
        self._planned = len(self._left)
        self._waits_for = [len(past.union(turn.after)) - len(past) for turn in tree.turns]
        self._firsts = [number for number in sorted(self._left) if not self._waits_for[number]]
        self._not_issued = [*self._waits_for]
        self._followers: list[list[int]] = [[] for _ in tree.turns]
        for follower, turn in enumerate(tree.turns):
            for before in turn.after:
                self._followers[before].append(follower)
        self._hits = yield from counting_hits(tree)
        for number in self._firsts:
            self._begin_request(number, WHEN_IDLE)

    def begin(self, turns: SessionTurns) -> Coroutine[Any, Any, TurnOutcome]:
        """Take all turns; issuing ends with the last one that leaves."""
        self._turns = turns
        self._began_ns = turns.scheduled_ns if turns.free_ns is None else turns.free_ns
        turns.open()
        return self._through()

    async def _through(self) -> TurnOutcome:
        """Take all turns; return the outcome of the turn that ended last."""
        try:
            await self._bench.result(self._making, self._began_ns)
            self._ready_ns = [self._began_ns] * len(self._tree.turns)
            async with asyncio.TaskGroup() as self._group:
                for number in self._firsts:
                    self._start(number)
        except asyncio.CancelledError:
            self._making.finish()
            self._never_ask(self._left, "stopped")
            self._end()
            raise
        self._end()
        return self._last

    def _request(self, number: int) -> Steps[Request]:
        """Make the request of a turn."""
        sent = yield from self._prompts.making(number)
        yield
        salting, members = self._playing.salting, self._prompts.members(number)
        return sent, self._prepare(sent if salting is None else salting(sent), members)

    def _begin_request(self, number: int, due_ns: int) -> BenchJob[Request]:
        if number not in self._requests:
            self._requests[number] = self._bench.begin(self._request(number), due_ns)
        return self._requests[number]

    def _delay_ns(self, number: int) -> int:
        playing, delay_ns = self._playing, self._tree.turns[number].delay_ns
        if playing.position is not None and number in self._firsts:
            delay_ns = playing.position.wait_ns(self._tree, number) - playing.sooner_ns()
        return round(delay_ns / playing.speed)

    def _start(self, number: int) -> None:
        """Let a turn, of which all that it waits for has ended, take place when it is due."""
        if number in self._never:
            return
        due_ns = self._ready_ns[number] + self._delay_ns(number)
        # What is due after the end of the phase can still be moved before it.
        why_not = self._turns.why_over(self._turns.now_ns() if self._playing.caps else due_ns)
        if why_not is None:
            self._pauses[number] = self._group.create_task(self._take(number, due_ns))
            return
        self._never_ask(self._after(number), why_not)
        if why_not == "duration":
            # The session holds its place until the phase ends: no other session begins there.
            self._group.create_task(self._turns.until(due_ns))

    async def _take(self, number: int, due_ns: int) -> None:
        turns, caps, pause = self._turns, self._playing.caps, Pause(due_ns)
        try:
            with pause.held_by(caps, turns):
                if due_ns - turns.now_ns() > AHEAD_NS:
                    await pause.end(turns, AHEAD_NS)
                sent, body = await self._bench.result(self._begin_request(number, due_ns), due_ns)
                why_not = await pause.end(turns)
        except asyncio.CancelledError:
            self._pauses.pop(number, None)
            self._never_ask(self._after(number), turns.why_over(turns.now_ns()) or "stopped")
            raise
        del self._pauses[number], self._requests[number]
        if why_not is not None:
            self._never_ask(self._after(number), why_not)
            return
        self._left.discard(number)
        self._close_after_last()
        taking = turns.take(sent, body, *self._logged(number, pause), self._use)
        self._prepare_followers(number)
        for cap in caps:
            cap.began()
        try:
            outcome = self._last = await taking
        finally:
            for cap in caps:
                cap.ended(turns.now_ns())
        if outcome.failure is not None:
            is_overflow = is_context_overflow(outcome.failure, outcome.message)
            self._ended_by(OVERFLOW if is_overflow else FAILED)
            self._never_ask(self._left if is_overflow else self._after(number), self._ending)
            return
        self._prompts.answered(number, outcome.answer)
        for follower in self._followers[number]:
            self._waits_for[follower] -= 1
            self._ready_ns[follower] = max(self._ready_ns[follower], outcome.ended_ns)
            if not self._waits_for[follower]:
                self._start(follower)

    def _prepare_followers(self, number: int) -> None:
        """Begin the requests of the turns that only wait for turns that were issued."""
        for follower in self._followers[number]:
            self._not_issued[follower] -= 1
            delay_ns = self._delay_ns(follower)
            if not self._not_issued[follower] and delay_ns <= AHEAD_NS and not self._prompts.needs_answers:
                self._begin_request(follower, self._turns.now_ns() + delay_ns)

    def _after(self, number: int) -> set[int]:
        """A turn with the later turns of its stream, and all that wait for one of these."""
        turns, numbers = self._tree.turns, {number}
        for later in range(number + 1, len(turns)):
            turn = turns[later]
            if turn.stream == turns[number].stream or not numbers.isdisjoint(turn.after):
                numbers.add(later)
        return numbers

    def _never_ask(self, numbers: Iterable[int], why: str) -> None:
        """Leave out those turns of some that were not asked."""
        left_out = [number for number in numbers if number in self._left and number not in self._never]
        if left_out:
            self._ended_by(why)
        for number in left_out:
            self._never[number] = why
            if (pause := self._pauses.pop(number, None)) is not None:
                pause.cancel()
            if (request := self._requests.pop(number, None)) is not None:
                request.drop()
        self._close_after_last()

    def _ended_by(self, why: str) -> None:
        """Keep why the session is not complete: the first reason."""
        if self._ending == "completed":
            self._ending = why

    def _close_after_last(self) -> None:
        if self._left == self._never.keys():
            self._turns.close()

    def _logged(self, number: int, pause: Pause) -> tuple[int, dict[str, Any]]:
        """When a turn was due, and what the log keeps of the turn."""
        tree, turns, turn = self._tree, self._turns, self._tree.turns[number]
        due_ns = pause.due_ns
        delay_ns = due_ns - self._ready_ns[number]
        facts = {
            "session": tree.session_id,
            "stream": turn.stream,
            "parent": tree.streams[turn.stream].parent,
            "depth": tree.depth(turn.stream),
            "agent": tree.streams[turn.stream].kind or None,
            "after": turn.after,
            "delay_ms": delay_ns / MS,
            "tool_ms": None if turn.tool_ns is None else turn.tool_ns / self._playing.speed / MS,
            "start_ms": None if turn.start_ns is None else turn.start_ns / MS,
            "end_ms": None if turn.end_ns is None else turn.end_ns / MS,
            "extends": turn.extends,
            "prefix_tokens": self._hits[number] * tree.block_tokens if tree.block_tokens else None,
            "block_tokens": len(turn.blocks) * tree.block_tokens if tree.block_tokens else None,
            "input_tokens": turn.input_tokens,
            "output_tokens": turn.output_tokens,
            "moved_ms": pause.moved_ns / MS or None,
        }
        of_turn = {name: fact for name, fact in facts.items() if fact is not None}
        more = {**self._facts, "turn": number, "turns": self._planned, "tree": of_turn}
        if number in self._firsts and turns.free_ns is not None:
            return turns.scheduled_ns + delay_ns, {**more, "free_ns": due_ns}
        return due_ns, more

    def _end(self) -> None:
        turns = self._turns
        turns.end(len(self._never), self._ending)
        data = {
            "conversation": self._facts["conversation"],
            "session": self._tree.session_id,
            "turns": self._planned,
            "prompt_id": self._sample.index,
            "phase": turns.phase,
            "scheduled_ns": turns.scheduled_ns,
            "begun_ns": self._began_ns,
            "ending": self._ending,
            "never_asked": dict(Counter(self._never.values())),
        }
        if self._playing.position is not None:
            data["begun_at_ms"] = self._playing.position.at_ns / MS
        self._emit(Event(EventType.TREE_ENDED, turns.now_ns(), data=data))
