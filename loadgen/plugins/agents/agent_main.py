"""The process of the agents of one worker: Python code of agents delays no stamp.

    python -m loadgen.plugins.agents.agent_main SOCKET

It ends when the worker closes the socket.
"""

from __future__ import annotations

import asyncio
import os
import select
import socket
import sys
import threading
import time
from dataclasses import replace
from itertools import count
from typing import TYPE_CHECKING, Any, Final

import orjson

from loadgen.driver.workers.framing import READ_BYTES, FrameReader, Outbox
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
from loadgen.plugins.agents.episode import EpisodeCutError, UserFailedError
from loadgen.plugins.agents.runner import CUT, EpisodeRunner
from recorder.schema import encode
from workloads.episode_program import error_text

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from loadgen.driver.requests.turn_outcome import TurnOutcome
    from recorder.event import Event
    from workloads.sample import Sample


END_TIMEOUT_S: Final = 2.0
"""How long agents may take to end, which can be busy without a pause."""

_HANGUP: Final = select.POLLHUP | getattr(select, "POLLRDHUP", 0)


def main(fd: int) -> None:
    """Play episodes until the worker closes the socket with this descriptor."""
    threading.Thread(target=_end_with_worker, args=(fd,), daemon=True).start()
    asyncio.run(AgentHost(socket.socket(fileno=fd)).run())


def _end_with_worker(fd: int) -> None:
    """End this process where agents never pause."""
    poll = select.poll()
    poll.register(fd, _HANGUP)
    while not any(event & _HANGUP for _, event in poll.poll()):
        pass
    time.sleep(END_TIMEOUT_S)
    os._exit(1)


class AgentHost:
    """Plays the episodes of a worker, which issues the turns."""

    def __init__(self, sock: socket.socket) -> None:
        sock.settimeout(0)
        self._sock = sock
        self._frames = FrameReader()
        self._numbers = count()
        self._calls: dict[int, asyncio.Future[TurnAnswer]] = {}
        self._episodes: dict[int, asyncio.Task[None]] = {}
        self._closed = asyncio.Event()
        self._runner: EpisodeRunner | None = None
        self._has_user = False

    async def run(self) -> None:
        """Work until the worker closes the socket, and end all that agents have started."""
        loop = asyncio.get_running_loop()
        self._outbox = Outbox(self._sock, loop)
        loop.add_reader(self._sock, self._on_readable)
        await self._closed.wait()
        for task in self._episodes.values():
            task.cancel()
        await asyncio.gather(*self._episodes.values(), return_exceptions=True)
        if self._runner is not None:
            self._runner.close()

    async def call(self, make: Callable[[int], Turn | UserTurn]) -> TurnOutcome:
        """Let the worker issue a turn, or raise `EpisodeCutError`; cancelling cancels the turn."""
        number = next(self._numbers)
        answer: asyncio.Future[TurnAnswer] = asyncio.get_running_loop().create_future()
        self._calls[number] = answer
        try:
            self._send(make(number))
            result = await asyncio.shield(answer)
        except asyncio.CancelledError:
            if not answer.done():
                self._send(Drop(number))
                # The end of the turn comes before that of the episode in the log.
                await answer
            raise
        finally:
            del self._calls[number]
        if result.outcome is None:
            raise EpisodeCutError(result.cut)
        return result.outcome

    def emit(self, event: Event) -> None:
        """Log an event, or the reason why the data cannot be encoded, as in `recorder.schema.row`."""
        try:
            data = orjson.loads(encode(event.data))
        except TypeError as error:
            data = {"encode_error": str(error)}
        self._send(Emitted(event._replace(data=data)))

    def _send(self, message: Any) -> None:
        self._outbox.send(encoded(message))

    def _on_readable(self) -> None:
        try:
            data = self._sock.recv(READ_BYTES)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            asyncio.get_running_loop().remove_reader(self._sock)
            for number, answer in self._calls.items():
                answer.set_result(TurnAnswer(number, None, "the worker is gone"))
            self._closed.set()
        for payload in self._frames.feed(data):
            self._take(decoded(payload))

    def _take(self, message: Any) -> None:
        match message:
            case AgentConfig():
                self._prepare(message)
            case Play():
                task = asyncio.create_task(self._play(message))
                self._episodes[message.episode] = task
            case Cancel(episode=episode) if episode in self._episodes:
                self._episodes[episode].cancel()
            case TurnAnswer(call=call) if call in self._calls and not self._calls[call].done():
                self._calls[call].set_result(message)

    def _prepare(self, config: AgentConfig) -> None:
        """Import all code of episodes before the first episode."""
        try:
            self._has_user = config.has_user
            self._runner = EpisodeRunner(config.plan, self.emit, config.redact, config.model)
            self._runner.prepare(config.programs)
        except Exception as error:  # noqa: BLE001 (a traceback could quote a secret)
            self._send(Crashed(config.redact(error_text(error))))
        else:
            self._send(AgentsReady())

    async def _play(self, message: Play) -> None:
        assert self._runner is not None  # noqa: S101 (the configuration is the first message)
        number = message.episode
        turns = RemoteTurns(self, number, has_user=self._has_user)
        try:
            outcome = await self._runner.play(
                message.sample, turns, message.phase, message.scheduled_ns, message.begun_ns
            )
            self._send(Played(number, outcome))
        except asyncio.CancelledError:
            self._send(Played(number, CUT))
        except Exception as error:  # noqa: BLE001 (as above)
            self._send(Crashed(error_text(error)))
        finally:
            del self._episodes[number]


class RemoteTurns:
    """Takes the turns of an episode through the worker; see `loadgen.plugins.agents.asking.TakeTurn`."""

    def __init__(self, host: AgentHost, episode: int, *, has_user: bool) -> None:
        self._host = host
        self._episode = episode
        self._has_user = has_user

    async def __call__(
        self, sample: Sample, more: Mapping[str, Any], members: Mapping[str, Any] | None, asked_ns: int
    ) -> TurnOutcome:
        """Issue a turn."""
        chat, tools, members = _plain([sample.chat, sample.tools, members])
        sent = replace(sample, chat=tuple(chat), tools=tuple(tools))
        return await self._host.call(lambda call: Turn(call, self._episode, sent, more, members, asked_ns))

    async def user(self, sample: Sample, more: Mapping[str, Any]) -> TurnOutcome:
        """Ask the simulated user."""
        if not self._has_user:
            raise UserFailedError("no simulated user: give --user-url and --user-model")
        chat, tools = _plain([sample.chat, sample.tools])
        sent = replace(sample, chat=tuple(chat), tools=tuple(tools))
        return await self._host.call(lambda call: UserTurn(call, self._episode, sent, more))


def _plain(value: Any) -> Any:
    """A value as JSON has it: the worker knows no class of an agent."""
    return orjson.loads(orjson.dumps(value))


if __name__ == "__main__":
    main(int(sys.argv[1]))
