"""Conversations from the first turn to the last; most have a single turn.

A sample with follow-ups is a conversation of several turns. Each is asked after the answer to the one before
and a pause, with everything in its context that was said so far. One that fails ends its conversation, and so
does the end of the phase.
"""

from __future__ import annotations

import asyncio
from secrets import token_hex
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Protocol

import orjson

from loadgen.driver.load import think_of
from loadgen.driver.requests.balance import balance_of
from loadgen.driver.requests.cache_buster import new_salt, salted
from loadgen.driver.requests.open_conversations import OpenConversations
from loadgen.driver.requests.order import order_of
from loadgen.driver.requests.think_time import ThinkTime

if TYPE_CHECKING:
    from collections.abc import Coroutine, Mapping

    from loadgen.driver.phase import Phase
    from loadgen.driver.plan import Plan
    from loadgen.driver.progress import SessionProgress
    from loadgen.driver.requests.request_source import Agenda
    from loadgen.driver.requests.turn import TurnOutcome
    from loadgen.driver.system.clock import Clock
    from workloads.sample import Message, Sample

_NOTHING: Final[Mapping[str, Any]] = {}


class TurnRunner(Protocol):
    """The runner of turns; see `loadgen.driver.requests.turn.RequestRunner`.

    Attributes:
        endpoints: How many there are to ask.
    """

    endpoints: int

    def prepare(self, sample: Sample) -> bytes:
        """Encode a request's body ahead of time."""

    async def run(
        self,
        sample: Sample,
        body: bytes,
        scheduled_ns: int,
        phase: str,
        endpoint: int,
        more: Mapping[str, Any],
    ) -> TurnOutcome:
        """Issue one request now and follow the request to the end."""

    def give_up_for(self, reason: str) -> None:
        """Learn why requests are given up from now on."""


class Room(Protocol):
    """The buffer of events; while the buffer is full, no further request is issued."""

    full: bool

    async def wait(self) -> None:
        """Return when there is room again."""


class Opening(NamedTuple):
    """The first turn of a conversation, ready to leave.

    Attributes:
        request: Its number in the phase.
        number: Its number in the session.
        sample: What it asks.
        sent: The same, as it is sent to the endpoint.
        body: The same, as it is sent.
        more: What else the log keeps of it.
    """

    request: int
    number: int
    sample: Sample
    sent: Sample
    body: bytes
    more: Mapping[str, Any]


class PlaysEpisodes(Protocol):
    """Plays episodes; see `loadgen.driver.workers.agent_process.AgentProcess`."""

    async def play(
        self, sample: Sample, turns: EpisodeTurns, phase: str, scheduled_ns: int, begun_ns: int
    ) -> TurnOutcome:
        """Play the episode of a sample to the end; return the outcome of the last turn."""


class EpisodeTurns:
    """Takes the turns of one episode.

    Args:
        conversations: Issues them.
        phase: The phase that the episode was due in.
        endpoint: Which endpoint is asked, from 0: the same for all turns.
        late_ns: How long after its schedule the episode began.
        free_late_ns: How long after it got a place; None where it waited for none.

    Attributes:
        asked: How many turns were issued.
    """

    def __init__(
        self,
        conversations: Conversations,
        phase: Phase,
        endpoint: int,
        late_ns: int,
        free_late_ns: int | None,
    ) -> None:
        self.asked = 0
        self.phase = phase
        self.endpoint = endpoint
        self._late_ns = late_ns
        self._free_late_ns = free_late_ns
        self._conversations = conversations

    async def __call__(
        self, sample: Sample, more: Mapping[str, Any], members: Mapping[str, Any] | None, asked_ns: int
    ) -> TurnOutcome:
        """Issue a request now and follow the request to the end."""
        return await self._conversations.episode_turn(sample, self, more, members, asked_ns)

    def due(self, asked_ns: int) -> tuple[int, Mapping[str, Any]]:
        """The due time of a turn asked by the agent at a moment, and further facts for the log.

        The agent's time is not the client's: the first turn is late by as much as its episode began late.
        """
        if self.asked:
            return asked_ns, _NOTHING
        first = {} if self._free_late_ns is None else {"free_ns": asked_ns - self._free_late_ns}
        return asked_ns - self._late_ns, first

    def why_over(self) -> str | None:
        """Why no further turn may be asked; None where one may."""
        return self._conversations.why_over(self.phase)


class Conversations:
    """Sees conversations through.

    Args:
        plan: What to do.
        agenda: What to ask.
        runner: Takes the turns.
        clock: The time.
        progress: Where they are counted.
        stopped: Set: no further turn is asked.
        room: Where the events of what is issued go, where that can be full.
        episodes: Plays the samples that are episodes.

    Attributes:
        scheduled: How many turns were due since this was last set to 0.
        thinking: The pauses.
        unfinished: Those that have turns left to ask.
    """

    def __init__(
        self,
        plan: Plan,
        agenda: Agenda,
        runner: TurnRunner,
        clock: Clock,
        progress: SessionProgress,
        stopped: asyncio.Event,
        room: Room | None,
        episodes: PlaysEpisodes | None = None,
    ) -> None:
        self.scheduled = 0
        self._episodes = episodes
        self.thinking = ThinkTime(think_of(plan.load), plan.seed, clock)
        self.unfinished = OpenConversations()
        self._plan = plan
        self._agenda = agenda
        self._samples = agenda.samples
        self._order = order_of(plan.order, len(agenda.samples), plan.seed, agenda.weights)
        self._runner = runner
        self._balance = balance_of(plan.balance, runner.endpoints) if runner.endpoints > 1 else None
        self._clock = clock
        self._progress = progress
        self._stopped = stopped
        self._room = room

    def opening(self, phase: Phase, request: int) -> Opening:
        """Get a request ready to leave."""
        number = self._agenda.number(phase, request)
        sample = sent = self._samples[self._order(number)]
        more = _NOTHING
        if self._plays(sample):
            return Opening(request, number, sample, sent, b"", more)
        if self._plan.salt:
            more = {"salt": new_salt()}
            sent = salted(sample, more["salt"])
        return Opening(request, number, sample, sent, self._runner.prepare(sent), more)

    def begin(
        self, phase: Phase, opening: Opening, scheduled_ns: int, free_ns: int | None = None
    ) -> Coroutine[Any, Any, TurnOutcome]:
        """A coroutine that follows a conversation to the end; counting starts with the call.

        Args:
            phase: The phase that it is due in.
            opening: Its first turn.
            scheduled_ns: When it was due.
            free_ns: When there was a place for it, where it had to wait for one.
        """
        endpoint = 0 if self._balance is None else self._balance.choose(opening.request)
        self._due(endpoint)
        first = _NOTHING if free_ns is None else {"free_ns": free_ns}
        if self._episodes is not None and self._plays(opening.sample):
            self.unfinished.begin()
            return self._episode(self._episodes, phase, opening, scheduled_ns, free_ns, endpoint)
        if opening.sample.follow_ups or self._agenda.conversations:
            if opening.sample.follow_ups:
                self.unfinished.begin()
            return self._all_turns(phase, opening, scheduled_ns, endpoint, first)
        more = {**opening.more, **first} if first else opening.more
        return self._turn(opening.sample, opening.body, scheduled_ns, phase, endpoint, more)

    def _plays(self, sample: Sample) -> bool:
        """Whether a sample is an episode: every sample with an agent; else samples with code."""
        episodes = self._plan.episodes
        return episodes is not None and (episodes.has_agent or sample.episode is not None)

    async def _episode(
        self,
        episodes: PlaysEpisodes,
        phase: Phase,
        opening: Opening,
        scheduled_ns: int,
        free_ns: int | None,
        endpoint: int,
    ) -> TurnOutcome:
        """Play an episode, which issues turns itself."""
        begun_ns = self._clock.now_ns()
        free_late_ns = None if free_ns is None else begun_ns - free_ns
        turns = EpisodeTurns(self, phase, endpoint, begun_ns - scheduled_ns, free_late_ns)
        try:
            return await episodes.play(opening.sent, turns, phase.name, scheduled_ns, begun_ns)
        finally:
            self.unfinished.end()
            if self._balance is not None and not turns.asked:
                self._balance.ended(turns.endpoint)
            if phase.name == "performance":
                self._progress.sessions += 1

    async def episode_turn(
        self,
        sample: Sample,
        turns: EpisodeTurns,
        more: Mapping[str, Any],
        members: Mapping[str, Any] | None,
        asked_ns: int,
    ) -> TurnOutcome:
        """Issue a turn of an episode now. The first one is counted already."""
        due_ns, first = turns.due(asked_ns)
        if turns.asked:
            self._due(turns.endpoint)
        turns.asked += 1
        more = {**more, **first}
        body = self._runner.prepare(sample)
        if members:
            body = orjson.dumps({**orjson.loads(body), **members})
        if self._room is not None and self._room.full:
            await self._room.wait()
        return await self._turn(sample, body, due_ns, turns.phase, turns.endpoint, more)

    def why_over(self, phase: Phase) -> str | None:
        """Why no further turn may be issued; None where one may."""
        if self._stopped.is_set():
            return "stopped"
        return "duration" if phase.is_over(self._clock.now_ns()) else None

    async def _all_turns(
        self, phase: Phase, opening: Opening, scheduled_ns: int, endpoint: int, first: Mapping[str, Any]
    ) -> TurnOutcome:
        """Take turns until the last, until one fails, or until there is no time for another.

        Of the first one, the log keeps more.
        """
        sent, body, due_ns, why_cut = opening.sent, opening.body, scheduled_ns, "stopped"
        more = {"conversation": token_hex(8), "turns": len(sent.follow_ups) + 1, **opening.more}
        try:
            # Of the first turn the log keeps the text without the salt.
            outcome = await self._turn(
                opening.sample, body, due_ns, phase, endpoint, more | {"turn": 0, **first}
            )
            while sent.follow_ups:
                due_ns = self._clock.now_ns() + self.thinking.pause_ns(opening.number, sent.turn)
                if why_not := self._why_not(outcome, phase, due_ns):
                    why_cut = why_not
                    break
                # What it takes to get the next turn ready is a part of the pause.
                following = sent.after(self._answer_to(sent, outcome))
                body = self._runner.prepare(following)
                await self.thinking.until(due_ns)
                if self._room is not None and self._room.full:
                    await self._room.wait()
                if why_not := self._why_not(outcome, phase, self._clock.now_ns()):
                    why_cut = why_not
                    break
                sent = following
                if not sent.follow_ups:
                    self.unfinished.end()
                self._due(endpoint)
                outcome = await self._turn(sent, body, due_ns, phase, endpoint, more | {"turn": sent.turn})
        finally:
            self._end(phase, len(sent.follow_ups), why_cut)
        return outcome

    def _why_not(self, outcome: TurnOutcome, phase: Phase, due_ns: int) -> str | None:
        """Why no further turn is asked; None where one is."""
        if outcome.failure is not None:
            return "failed"
        if self._stopped.is_set():
            return "stopped"
        return "duration" if phase.is_over(due_ns) else None

    def _answer_to(self, sent: Sample, outcome: TurnOutcome) -> Message:
        """The answer to a turn, as a message for the next turn."""
        recorded = sent.follow_ups[0].recorded if self._plan.history == "recorded" else None
        answer = recorded or outcome.answer
        assert answer is not None  # noqa: S101 (who asks a turn that others follow brings its answer)
        return answer

    def _end(self, phase: Phase, never_asked: int, why_cut: str) -> None:
        """Count a conversation that is over."""
        if never_asked:
            self.unfinished.end()
        if phase.name == "performance":
            self._progress.sessions += 1
            if never_asked:
                self._progress.cut[why_cut] += 1
                self._progress.never_asked += never_asked

    def _due(self, endpoint: int) -> None:
        """Count a turn that leaves now. Of several that leave together each must know of those ahead."""
        self.scheduled += 1
        if self._balance is not None:
            self._balance.began(endpoint)

    async def _turn(
        self,
        sample: Sample,
        body: bytes,
        scheduled_ns: int,
        phase: Phase,
        endpoint: int,
        more: Mapping[str, Any],
    ) -> TurnOutcome:
        """Take one due turn, and count the outcome."""
        progress, measured = self._progress, phase.name == "performance"
        progress.in_flight += 1
        progress.issued += measured
        try:
            outcome = await self._runner.run(sample, body, scheduled_ns, phase.name, endpoint, more)
        except asyncio.CancelledError:
            progress.given_up += 1
            raise
        finally:
            progress.in_flight -= 1
            if self._balance is not None:
                self._balance.ended(endpoint)
        if outcome.ttft_ms is not None:
            progress.recent_ttft_ms.append(outcome.ttft_ms)
        if measured and outcome.failure is None:
            progress.completed += 1
            progress.output_tokens += outcome.output_tokens
        elif measured:
            progress.errors[str(outcome.failure)] += 1
        return outcome
