"""The host of episodes: the process of the agents of a worker, seen from the worker."""

from __future__ import annotations

import asyncio
import importlib
import os
import socket
import subprocess
from dataclasses import replace
from functools import partial
from itertools import count
from typing import TYPE_CHECKING, Any, Final

from loadgen.driver.client.redaction import VARIABLES
from loadgen.driver.system.child_process import exit_status, start_child
from loadgen.driver.system.fork import ForkedProcess, can_fork
from loadgen.driver.workers.framing import READ_BYTES, FrameReader, Outbox
from loadgen.plugins.agents.agent_main import END_TIMEOUT_S
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
from loadgen.plugins.agents.episode_session import EpisodeSession
from workloads.episode_program import programs_of
from workloads.sample import examples

if TYPE_CHECKING:
    from collections.abc import Sequence

    from loadgen.driver.requests.turn_outcome import TurnOutcome
    from loadgen.driver.session_kind import HostingWorker
    from loadgen.plugins.agents.episode_plan import EpisodePlan
    from loadgen.plugins.agents.episode_session import EpisodeTurns
    from loadgen.plugins.agents.user_client import SimulatedUserClient
    from workloads.episode_program import EpisodeProgram, EpisodeSample
    from workloads.sample import Sample

PROCESS_NAME: Final = "loadgen-agents"
"""What `ps -o comm` shows of the process where it is a copy of its worker."""


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
        """Configure the process; return when all agents are imported.

        Raises:
            AgentsLostError: The process ended.
        """
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
        """See `loadgen.plugins.agents.episode_session.PlaysEpisodes`.

        Raises:
            AgentsLostError: The process ended.
        """
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
    from loadgen.plugins.agents.agent_main import main

    return ForkedProcess(PROCESS_NAME, partial(main, line), keep=(line,), without=VARIABLES)
