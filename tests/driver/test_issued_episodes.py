"""Episodes on a clock that the test moves: what an agent does before it asks does not make a turn late."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from loadgen.driver.load import Closed, Offline
from loadgen.plugins.agents.agent_process import EpisodeSession
from tests.driver.manual_clock import open_loop
from tests.driver.test_issued_conversations import MS, SERVICE_MS, Talk
from workloads.episode_program import EpisodeProgram, EpisodeSample
from workloads.sample import Sample

if TYPE_CHECKING:
    from loadgen.driver.load import Load
    from loadgen.driver.requests.turn_outcome import TurnOutcome
    from loadgen.plugins.agents.agent_process import EpisodeTurns
    from tests.driver.manual_clock import ManualClock

OWN_MS = 1000
HANDOVER_MS = 3
PROGRAM = EpisodeProgram("agents:busy")
QUESTIONS = [Sample(number, f"question {number}") for number in range(4)]


class BusyAgents:
    """Agents that are busy for a second before each of two turns, which the client issues 3 ms later."""

    def __init__(self, clock: ManualClock) -> None:
        self._clock = clock

    def session(self, number: int, sample: Sample) -> EpisodeSession:
        """Every sample is an episode."""
        return EpisodeSession(self, number, EpisodeSample.of(sample, PROGRAM))  # type: ignore[arg-type]  # its `play`

    async def play(
        self, sample: Sample, turns: EpisodeTurns, phase: str, scheduled_ns: int, begun_ns: int
    ) -> TurnOutcome:
        """Play an episode."""
        del phase, scheduled_ns, begun_ns
        for _ in range(2):
            await self._clock.sleep_until(self._clock.now_ns() + OWN_MS * MS)
            asked_ns = self._clock.now_ns()
            await self._clock.sleep_until(asked_ns + HANDOVER_MS * MS)
            outcome = await turns(sample, {}, None, asked_ns)
        return outcome


@pytest.mark.parametrize(
    "load",
    [Closed(4), Closed(1), Offline(), open_loop("constant", 100), open_loop("constant", 2)],
    ids=["closed", "one at a time", "offline", "open", "slow"],
)
def test_what_an_agent_does_makes_no_turn_late(load: Load) -> None:
    """Whatever the load, and of the first turn too: only what the client takes is."""
    talk = Talk(load, QUESTIONS, sessions=4, host=BusyAgents)
    assert len(talk.taken) == 8
    assert {turn.issued_ms - turn.due_ms for turn in talk.taken} == {HANDOVER_MS}


def test_the_wait_for_a_place_is_in_the_first_turn() -> None:
    """Of an episode in an open loop: its arrival is its schedule."""
    load = open_loop("constant", 1000, limit=1)
    talk = Talk(load, QUESTIONS[:2], sessions=2, host=BusyAgents)
    (first, answered), (second, later) = talk.of(0), talk.of(1)
    held_ms = answered.issued_ms + SERVICE_MS - 1
    late_ms = [turn.issued_ms - turn.due_ms for turn in (first, answered, second, later)]
    assert late_ms == [HANDOVER_MS, HANDOVER_MS, HANDOVER_MS + held_ms, HANDOVER_MS]
    assert second.more["free_ns"] == (second.due_ms + held_ms) * MS
