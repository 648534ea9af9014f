"""Episodes as a kind of sessions, and their host: the process of a worker's agents, seen from the worker."""

from __future__ import annotations

import asyncio
import importlib
import os
import socket
import subprocess
from functools import partial
from itertools import count
from typing import TYPE_CHECKING, Any, Final

import orjson

from lazy_dataclasses import dataclass, replace
from loadgen.driver.client.redaction import VARIABLES
from loadgen.driver.requests.turn_outcome import AnswerUse
from loadgen.driver.system.child_process import exit_status, start_child
from loadgen.driver.system.fork import ForkedProcess, can_fork
from loadgen.driver.workers.framing import READ_BYTES, FrameReader, Outbox
from loadgen.plugins.agents.agent_main import END_TIMEOUT_S, main
from loadgen.plugins.agents.agent_messages import (
    AgentConfig,
    AgentsReady,
    Cancel,
    Crashed,
    Drop,
    Emitted,
    Play,
    Played,
    Turn,
    TurnAnswer,
    UserTurn,
    decoded,
    encoded,
)
from workloads.episode_program import programs_of
from workloads.sample import examples

if TYPE_CHECKING:
    from collections.abc import Coroutine, Mapping, Sequence
    from collections.abc import Set as AbstractSet
    from pathlib import Path

    from loadgen.driver.requests.session_turns import SessionTurns
    from loadgen.driver.requests.turn_outcome import TurnOutcome
    from loadgen.driver.session_kind import HostingWorker
    from loadgen.plugins.agents.episode_plan import EpisodePlan
    from loadgen.plugins.agents.user_client import SimulatedUserClient
    from workloads.episode_program import EpisodeProgram, EpisodeSample
    from workloads.sample import Sample

PROCESS_NAME: Final = "loadgen-agents"
"""What `ps -o comm` shows of the process where it is a copy of its worker."""

_NOTHING: Final[Mapping[str, Any]] = {}


class EpisodeSession:
    """An episode; see `loadgen.driver.session_kind.UserSession`."""

    last_turn: Final = 0

    def __init__(self, player: AgentProcess, number: int, sample: EpisodeSample) -> None:
        self.number = number
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


class AgentsLostError(Exception):
    """The process of the agents is gone; the message says how it ended."""


class _Episode:
    """An episode that is played: the way to take turns, and the turns under way."""

    def __init__(self, turns: EpisodeTurns) -> None:
        self.turns = turns
        self.outcome: asyncio.Future[TurnOutcome] = asyncio.get_running_loop().create_future()
        self.calls: dict[int, asyncio.Task[None]] = {}

    def fail(self, error: Exception) -> None:
        """Let the player of the episode raise an error."""
        if not self.outcome.done():
            self.outcome.set_exception(error)


class AgentProcess:
    """Plays the episodes of a worker in another process, whose agents delay nothing here.

    The process starts at once, while this one has a single thread and can be copied.
    """

    def __init__(self, plan: EpisodePlan) -> None:
        self._plan = plan
        self._user: SimulatedUserClient | None = None
        self._line, theirs = socket.socketpair()
        with theirs:
            self._process = _started(theirs.fileno())
        self._line.settimeout(0)
        self._frames = FrameReader()
        self._numbers = count()
        self._episodes: dict[int, _Episode] = {}

    async def begin(self, worker: HostingWorker) -> None:
        """Configure the process; return when all agents are imported, or raise `AgentsLostError`."""
        # Imported before an answer is read.
        importlib.import_module("loadgen.driver.requests.turn_details")
        loop = asyncio.get_running_loop()
        self._emit = worker.emit
        if (user := self._plan.user) is not None:
            from loadgen.plugins.agents.user_client import SimulatedUserClient

            self._user = SimulatedUserClient(user, worker.make_transport, worker.emit)
        self._ready: asyncio.Future[None] = loop.create_future()
        self._outbox = Outbox(self._line, loop)
        loop.add_reader(self._line, self._on_readable)
        plan, programs = replace(self._plan, user=None), _programs(worker.samples)
        self._send(AgentConfig(plan, programs, worker.model, worker.redact, user is not None))
        await self._ready

    def session(self, number: int, sample: Sample) -> EpisodeSession | None:
        """The episode of a sample; None for a sample without one."""
        played = self._plan.played(sample)
        return None if played is None else EpisodeSession(self, number, played)

    async def play(
        self, sample: EpisodeSample, turns: EpisodeTurns, phase: str, scheduled_ns: int, begun_ns: int
    ) -> TurnOutcome:
        """Play the episode of a sample; return the outcome of the last turn, or raise `AgentsLostError`."""
        number, episode = next(self._numbers), _Episode(turns)
        self._episodes[number] = episode
        try:
            self._send(Play(number, sample, phase, scheduled_ns, begun_ns))
            return await asyncio.shield(episode.outcome)
        except asyncio.CancelledError:
            for task in episode.calls.values():
                task.cancel()
            self._send(Cancel(number))
            # The process logs the end of the episode, unless its agents never pause.
            await asyncio.wait([episode.outcome], timeout=END_TIMEOUT_S)
            raise
        finally:
            del self._episodes[number]

    async def close(self) -> None:
        """End the process."""
        if self._user is not None:
            await self._user.transport.close()
        loop = asyncio.get_running_loop()
        loop.remove_reader(self._line)
        self._line.close()
        await loop.run_in_executor(None, self._ended)

    def _ended(self) -> str:
        """How the process ended; a process that does not end is killed."""
        try:
            return exit_status(self._process.wait(END_TIMEOUT_S))
        except subprocess.TimeoutExpired:
            self._process.kill()
            return exit_status(self._process.wait())

    def _send(self, message: Any) -> None:
        self._outbox.send(encoded(message))

    def _on_readable(self) -> None:
        try:
            data = self._line.recv(READ_BYTES)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            asyncio.get_running_loop().remove_reader(self._line)
            self._fail(f"the process of the agents ended: {self._ended()}")
        for payload in self._frames.feed(data):
            self._take(decoded(payload))

    def _take(self, message: Any) -> None:
        match message:
            case Emitted(event):
                self._emit(event)
            case Turn() | UserTurn():
                self._take_turn(message)
            case Drop(call):
                for episode in self._episodes.values():
                    if call in episode.calls:
                        episode.calls[call].cancel()
            case Played(number, outcome):
                if number in self._episodes and not self._episodes[number].outcome.done():
                    self._episodes[number].outcome.set_result(outcome)
            case AgentsReady():
                self._ready.set_result(None)
            case Crashed(text):
                self._fail(text)

    def _fail(self, text: str) -> None:
        """Let all that wait for the process raise an error."""
        if not self._ready.done():
            self._ready.set_exception(AgentsLostError(text))
        for episode in self._episodes.values():
            episode.fail(AgentsLostError(text))

    def _take_turn(self, message: Turn | UserTurn) -> None:
        episode = self._episodes.get(message.episode)
        why = "stopped" if episode is None else episode.turns.why_over()
        if episode is None or why is not None:
            self._send(TurnAnswer(message.call, None, f"the session ends ({why})"))
            return
        task = asyncio.get_running_loop().create_task(self._answer(episode, message))
        episode.calls[message.call] = task

    async def _answer(self, episode: _Episode, message: Turn | UserTurn) -> None:
        """Issue a turn and return the outcome to the process."""
        outcome = None
        try:
            if isinstance(message, Turn):
                outcome = await episode.turns(message.sample, message.more, message.members, message.asked_ns)
            elif self._user is not None:
                outcome = await self._user.ask(message.sample, message.more)
        except Exception as error:  # noqa: BLE001 (a bug, which ends the session)
            episode.fail(error)
        finally:
            del episode.calls[message.call]
            self._send(TurnAnswer(message.call, outcome, "the session ends (stopped)"))


def _programs(samples: Sequence[Sample]) -> list[EpisodeProgram]:
    """The code of the samples, each once."""
    programs = {
        (program.code, program.setup, program.finish): replace(program, data={}, files={})
        for program in programs_of(examples(samples))
    }
    return list(programs.values())


def _started(line: int) -> ForkedProcess | subprocess.Popen[bytes]:
    """A copy of this process where that is safe, else a program."""
    if not can_fork():
        environment = {name: value for name, value in os.environ.items() if name not in VARIABLES}
        return start_child(
            "loadgen.plugins.agents.agent_main", str(line), environment=environment, pass_fds=(line,)
        )

    return ForkedProcess(PROCESS_NAME, partial(main, line), keep=(line,), without=VARIABLES)


@dataclass(frozen=True, slots=True)
class EpisodeKind:
    """Episodes as a kind of sessions; see `loadgen.driver.session_kind.SessionKind`."""

    plan: EpisodePlan

    def settings(self) -> dict[str, Any]:
        """Members for the settings in the log, without secrets."""
        return {"episodes": self.plan.settings()}

    def in_folder(self, run: Path) -> EpisodeKind:
        """The episodes of a run in a folder."""
        return EpisodeKind(self.plan.in_folder(run))

    def require(self) -> None:
        """Import the agent, or raise `EpisodeCodeError`."""
        import_players(set() if self.plan.agent is None else {self.plan.agent}, self.plan.paths)

    def host(self) -> AgentProcess:
        """Start the process that plays episodes."""
        return AgentProcess(self.plan)


def import_players(codes: AbstractSet[str], paths: tuple[str, ...]) -> None:
    """Import the players of episodes before the first request, or raise `EpisodeCodeError`."""
    from loadgen.plugins.agents.rollout import EpisodePlayer

    for code in sorted(codes):
        EpisodePlayer(code, paths)
