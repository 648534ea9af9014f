"""A session of the turns of a tree: each is issued when all that it waits for has ended, plus its delay.

A turn that fails ends its stream: the later turns of the stream, and all turns that wait for one of them, are
never asked. A prompt that does not fit the model's context ends the session.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from secrets import token_hex
from typing import TYPE_CHECKING, Any, Final

from loadgen.driver.requests.cache_buster import salted
from loadgen.driver.requests.turn_outcome import AnswerUse, TurnOutcome
from loadgen.plugins.agentic.prefix_hits import turn_hits
from loadgen.plugins.agentic.tree_sample import PlayedPrompts
from recorder.event import Event, EventType
from reporter.findings.failed_requests import is_context_overflow

if TYPE_CHECKING:
    from collections.abc import Coroutine, Iterable

    from loadgen.driver.requests.session_turns import SessionTurns
    from loadgen.driver.requests.turn import Emit
    from loadgen.plugins.agentic.tree_sample import TreeSample

NEVER_ASKED: Final = TurnOutcome("cancelled", None, 0)
"""The outcome of a session that ended before its first turn."""

MS: Final = 1_000_000
FAILED: Final = "failed"
OVERFLOW: Final = "context_overflow"


class TreeSession:
    """A session tree; see `loadgen.driver.session_kind.UserSession`.

    Args:
        number: The number of the session in the run.
        sample: The tree.
        speed: How many times as fast as recorded the delays pass.
        salt: A text at the start of every prompt; empty for none.
        emit: Logs an event.
    """

    def __init__(self, number: int, sample: TreeSample, speed: float, salt: str, emit: Emit) -> None:
        self.number = number
        self.last_turn = len(sample.tree.turns) - 1
        self._sample = sample
        self._tree = tree = sample.tree
        self._speed = speed
        self._salt = salt
        self._emit = emit
        self._prompts = PlayedPrompts(sample)
        # Made before the session is due: a prompt of 100,000 tokens takes some milliseconds.
        self._first = {
            number: self._prompts.turn(number) for number, turn in enumerate(tree.turns) if not turn.after
        }
        self._use = AnswerUse.FOLLOWED if self._prompts.needs_answers else AnswerUse.MEASURED
        self._facts = {"conversation": token_hex(8), **({"salt": salt} if salt else {})}
        self._waits_for = [len(turn.after) for turn in tree.turns]
        self._followers: list[list[int]] = [[] for _ in tree.turns]
        for follower, turn in enumerate(tree.turns):
            for before in turn.after:
                self._followers[before].append(follower)
        self._hits = turn_hits(tree)
        self._left = set(range(len(tree.turns)))
        self._never: dict[int, str] = {}
        self._pauses: dict[int, asyncio.Task[None]] = {}
        self._ending = "completed"
        self._last = NEVER_ASKED

    def begin(self, turns: SessionTurns) -> Coroutine[Any, Any, TurnOutcome]:
        """Take all turns; issuing ends with the last one that leaves."""
        self._turns = turns
        self._began_ns = turns.scheduled_ns if turns.free_ns is None else turns.free_ns
        self._ready_ns = [self._began_ns] * len(self._tree.turns)
        turns.open()
        return self._through()

    async def _through(self) -> TurnOutcome:
        """Take all turns; return the outcome of the turn that ended last."""
        try:
            async with asyncio.TaskGroup() as self._group:
                for number, turn in enumerate(self._tree.turns):
                    if not turn.after:
                        self._start(number)
        except asyncio.CancelledError:
            self._never_ask(self._left, "stopped")
            raise
        finally:
            self._end()
        return self._last

    def _start(self, number: int) -> None:
        """Let a turn, of which all that it waits for has ended, take place when it is due."""
        if number in self._never:
            return
        due_ns = self._ready_ns[number] + round(self._tree.turns[number].delay_ns / self._speed)
        why_not = self._turns.why_over(due_ns)
        if why_not is None:
            self._pauses[number] = self._group.create_task(self._take(number, due_ns))
            return
        self._never_ask(self._after(number), why_not)
        if why_not == "duration":
            # The session holds its place until the phase ends: no other session begins there.
            self._group.create_task(self._turns.until(due_ns))

    async def _take(self, number: int, due_ns: int) -> None:
        turns = self._turns
        # What it takes to get a turn ready is a part of its delay.
        sent = self._first.pop(number, None) or self._prompts.turn(number)
        body = turns.prepare(salted(sent, self._salt) if self._salt else sent)
        try:
            why_not = await turns.until(due_ns)
        except asyncio.CancelledError:
            self._pauses.pop(number, None)
            self._never_ask(self._after(number), turns.why_over(turns.now_ns()) or "stopped")
            raise
        del self._pauses[number]
        if why_not is not None:
            self._never_ask(self._after(number), why_not)
            return
        self._left.discard(number)
        self._close_after_last()
        outcome = await turns.take(sent, body, *self._logged(number, due_ns), self._use)
        self._last = outcome
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
        self._close_after_last()

    def _ended_by(self, why: str) -> None:
        """Keep why the session is not complete: the first reason."""
        if self._ending == "completed":
            self._ending = why

    def _close_after_last(self) -> None:
        if self._left == self._never.keys():
            self._turns.close()

    def _logged(self, number: int, due_ns: int) -> tuple[int, dict[str, Any]]:
        """When a turn was due, and what the log keeps of the turn."""
        tree, turns, turn = self._tree, self._turns, self._tree.turns[number]
        delay_ns = due_ns - self._ready_ns[number]
        facts = {
            "session": tree.session_id,
            "stream": turn.stream,
            "parent": tree.streams[turn.stream].parent,
            "depth": tree.depth(turn.stream),
            "agent": tree.streams[turn.stream].kind or None,
            "after": turn.after,
            "delay_ms": delay_ns / MS,
            "tool_ms": None if turn.tool_ns is None else turn.tool_ns / self._speed / MS,
            "start_ms": None if turn.start_ns is None else turn.start_ns / MS,
            "end_ms": None if turn.end_ns is None else turn.end_ns / MS,
            "extends": turn.extends,
            "prefix_tokens": self._hits[number] * tree.block_tokens if tree.block_tokens else None,
            "block_tokens": len(turn.blocks) * tree.block_tokens if tree.block_tokens else None,
            "input_tokens": turn.input_tokens,
            "output_tokens": turn.output_tokens,
        }
        of_turn = {name: fact for name, fact in facts.items() if fact is not None}
        more = {**self._facts, "turn": number, "turns": len(tree.turns), "tree": of_turn}
        if not turn.after and turns.free_ns is not None:
            return turns.scheduled_ns + delay_ns, {**more, "free_ns": due_ns}
        return due_ns, more

    def _end(self) -> None:
        turns = self._turns
        turns.end(len(self._never), self._ending)
        data = {
            "conversation": self._facts["conversation"],
            "session": self._tree.session_id,
            "turns": len(self._tree.turns),
            "prompt_id": self._sample.index,
            "phase": turns.phase,
            "scheduled_ns": turns.scheduled_ns,
            "begun_ns": self._began_ns,
            "ending": self._ending,
            "never_asked": dict(Counter(self._never.values())),
        }
        self._emit(Event(EventType.TREE_ENDED, turns.now_ns(), data=data))
