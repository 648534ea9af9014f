"""A session of turns that code asks for: an episode."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Protocol

import orjson

from loadgen.driver.requests.turn_outcome import AnswerUse

if TYPE_CHECKING:
    from collections.abc import Coroutine, Mapping

    from loadgen.driver.requests.session_turns import SessionTurns
    from loadgen.driver.requests.turn_outcome import TurnOutcome
    from workloads.episode_program import EpisodeSample
    from workloads.sample import Sample

_NOTHING: Final[Mapping[str, Any]] = {}


class PlaysEpisodes(Protocol):
    """Plays episodes; see `loadgen.plugins.agents.agent_process.AgentProcess`."""

    async def play(
        self, sample: EpisodeSample, turns: EpisodeTurns, phase: str, scheduled_ns: int, begun_ns: int
    ) -> TurnOutcome:
        """Play the episode of a sample to the end; return the outcome of the last turn."""


class EpisodeSession:
    """An episode; see `loadgen.driver.session_kind.UserSession`."""

    def __init__(self, player: PlaysEpisodes, number: int, sample: EpisodeSample) -> None:
        self.number = number
        self.last_turn = len(sample.follow_ups)
        self._player = player
        self._sample = sample

    def begin(self, turns: SessionTurns) -> Coroutine[Any, Any, TurnOutcome]:
        """Play the episode, which issues turns."""
        turns.open()
        return self._play(turns)

    async def _play(self, turns: SessionTurns) -> TurnOutcome:
        begun_ns, scheduled_ns = turns.now_ns(), turns.scheduled_ns
        try:
            asked = EpisodeTurns(turns, begun_ns)
            return await self._player.play(self._sample, asked, turns.phase, scheduled_ns, begun_ns)
        finally:
            turns.end()


class EpisodeTurns:
    """Takes the turns of one episode.

    The agent's time is not the client's: the first turn is late by as much as its episode began late.
    """

    def __init__(self, turns: SessionTurns, begun_ns: int) -> None:
        self._turns = turns
        self._begun_ns = begun_ns
        self._has_asked = False

    async def __call__(
        self, sample: Sample, more: Mapping[str, Any], members: Mapping[str, Any] | None, asked_ns: int
    ) -> TurnOutcome:
        """Issue a request now and follow the request to the end."""
        turns, due_ns, first = self._turns, asked_ns, _NOTHING
        if not self._has_asked:
            due_ns, first = self._first(asked_ns)
        self._has_asked = True
        body = turns.prepare(sample)
        if members:
            body = orjson.dumps({**orjson.loads(body), **members})
        await turns.room()
        return await turns.take(sample, body, due_ns, {**more, **first}, AnswerUse.READ)

    def _first(self, asked_ns: int) -> tuple[int, Mapping[str, Any]]:
        """The due time of the first turn, and further facts for the log."""
        turns, agent_ns = self._turns, asked_ns - self._begun_ns
        held = {} if turns.free_ns is None else {"free_ns": turns.free_ns + agent_ns}
        return turns.scheduled_ns + agent_ns, held

    def why_over(self) -> str | None:
        """Why no further turn may be asked; None where one may."""
        return self._turns.why_over(self._turns.now_ns())
