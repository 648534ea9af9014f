"""A kind of sessions that the driver does not know: trees, whose branches run at the same time."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

from loadgen.driver.load import Closed, Offline
from tests.driver.manual_clock import open_loop
from tests.driver.test_issued_conversations import MS, SERVICE_MS, Talk
from workloads.sample import Sample

if TYPE_CHECKING:
    from collections.abc import Coroutine

    from loadgen.driver.load import Load
    from loadgen.driver.requests.session_turns import SessionTurns
    from loadgen.driver.requests.turn_outcome import TurnOutcome

DELAYS_MS = (7, 17)
ROOTS = [Sample(number, f"root {number}") for number in range(4)]


class Tree:
    """A turn, two branches of one turn each with a delay, and a turn after both."""

    last_turn = 3

    def __init__(self, number: int, sample: Sample) -> None:
        self.number = number
        self._sample = sample
        self._left = 4

    def begin(self, turns: SessionTurns) -> Coroutine[Any, Any, TurnOutcome]:
        """Grow."""
        turns.open()
        return self._grow(turns)

    async def _grow(self, turns: SessionTurns) -> TurnOutcome:
        why_cut = "stopped"
        try:
            outcome = await self._turn(turns, turns.scheduled_ns, 0)
            async with asyncio.TaskGroup() as branches:
                for number, delay_ms in enumerate(DELAYS_MS, 1):
                    branches.create_task(self._later(turns, turns.now_ns() + delay_ms * MS, number))
            if (why_over := turns.why_over(turns.now_ns())) is not None:
                why_cut = why_over
                return outcome
            turns.close()
            return await self._turn(turns, turns.now_ns(), 3)
        finally:
            turns.end(self._left, why_cut)

    async def _later(self, turns: SessionTurns, due_ns: int, number: int) -> None:
        if await turns.until(due_ns) is None:
            await self._turn(turns, due_ns, number)

    async def _turn(self, turns: SessionTurns, due_ns: int, number: int) -> TurnOutcome:
        self._left -= 1
        return await turns.take(self._sample, turns.prepare(self._sample), due_ns, {"turn": number})


class Trees:
    """Makes a tree of every second sample, and leaves the others to the driver."""

    def __init__(self, _: object) -> None:
        pass

    def session(self, number: int, sample: Sample) -> Tree | None:
        """See `SessionHost`."""
        return Tree(number, sample) if sample.index % 2 == 0 else None


@pytest.mark.parametrize(
    "load",
    [Closed(1), Closed(4), Offline(), Offline(limit=1), open_loop("constant", 1000, limit=2)],
    ids=["one at a time", "closed", "offline", "one place", "places"],
)
def test_a_session_says_when_its_turns_are_due(load: Load) -> None:
    """Branches of a tree run at once; a join waits for all; other samples are single turns."""
    talk = Talk(load, ROOTS, sessions=4, host=Trees)
    for index in (0, 2):
        turns = {turn.more["turn"]: turn for turn in talk.of(index)}
        began_ms = turns[0].issued_ms
        branches_ms = [began_ms + SERVICE_MS + delay_ms for delay_ms in DELAYS_MS]
        assert [turns[number].issued_ms for number in (1, 2)] == branches_ms
        assert turns[3].issued_ms == max(branches_ms) + SERVICE_MS
        assert all(turn.due_ms == turn.issued_ms for number, turn in turns.items() if number)
    assert [len(talk.of(index)) for index in (1, 3)] == [1, 1]
    assert talk.issuer.progress.sessions == 4
    assert talk.findings() == []


def test_a_place_is_held_until_the_tree_has_ended() -> None:
    """A limit counts sessions, whatever they have in flight."""
    talk = Talk(Offline(limit=1), [ROOTS[0], ROOTS[2]], sessions=2, host=Trees)
    ended_ms = max(turn.issued_ms for turn in talk.of(0)) + SERVICE_MS
    assert min(turn.issued_ms for turn in talk.of(2)) == ended_ms
    assert talk.runner.most_in_flight == 2


def test_a_stop_ends_branches_in_their_pauses() -> None:
    """The rest of the tree is counted as never asked."""
    talk = Talk(Closed(1), ROOTS[:1], sessions=1, host=Trees, stop_at_ms=[SERVICE_MS + 10])
    assert [turn.more["turn"] for turn in talk.taken] == [0, 1]
    assert (talk.issuer.progress.cut, talk.issuer.progress.never_asked) == ({"stopped": 1}, 2)
    assert talk.findings() == ["conversations_cut"]
