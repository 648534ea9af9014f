"""One worker of a session, from the parent's side: received and sent messages, and open requests."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, Final, Protocol

from loadgen.driver.workers.framing import (
    READ_BYTES,
    FrameReader,
    Outbox,
    WorkerMessage,
    command,
    unmarshalled,
)
from recorder.event import TERMINAL, EventType

if TYPE_CHECKING:
    from collections.abc import Iterable

    from loadgen.driver.phase import Phase
    from loadgen.driver.workers.framing import Command, GiveUp, WorkerConfig
    from loadgen.driver.workers.launcher import WorkerProcess
    from recorder.schema import Row

_ISSUED: Final = EventType.LOADGEN_ISSUE_CALLED.value
_TERMINAL: Final = frozenset(kind.value for kind in TERMINAL)


class WorkerListener(Protocol):
    """The receiver of workers' messages; see `loadgen.driver.workers.pool.WorkerPool`."""

    def on_rows(self, rows: list[Row], since_ns: int, size: int) -> None:
        """Take events, with total bytes, and the waiting start of the first in ns of CLOCK_MONOTONIC."""

    def on_completeness(self) -> None:
        """Learn that the `complete_until_ns` of a member is new."""

    def on_progress(self) -> None:
        """Learn that the `progress` of a member is new."""

    def on_loss(self, member: WorkerHandle) -> None:
        """Handle a member that ended without a last message."""


class WorkerHandle:
    """A worker, talked to in the running event loop."""

    def __init__(self, number: int, process: WorkerProcess, listener: WorkerListener) -> None:
        self.number = number
        self.process = process
        self.open: set[str] = set()
        #: How many requests it has issued since this was last set to 0, as far as it has reported.
        self.issued = 0
        #: Each request that had ended in it by then has its end among the reported events.
        self.complete_until_ns = 0
        self.progress: dict[str, Any] | None = None
        self.crash_message: str | None = None
        self.ended = False
        self.lost = False
        self.messages_received = 0
        self.killed_for: str | None = None
        self._listener = listener
        self._loop = asyncio.get_running_loop()
        self._line = process.line
        self._line.settimeout(0)
        self._frames = FrameReader()
        self._outbox = Outbox(self._line, self._loop)
        #: To what it was last asked; None when it is lost.
        self.answer: asyncio.Future[Any] = self._loop.create_future()
        self.listen()

    def ask(self, what: WorkerConfig | Phase | Command) -> asyncio.Future[Any]:
        """Say something that is answered; see `answer`."""
        self.answer = self._loop.create_future()
        if self.lost:
            self.answer.set_result(None)
        else:
            self.tell(what)
        return self.answer

    def tell(self, what: WorkerConfig | Phase | Command | GiveUp) -> None:
        """Say something that is not answered."""
        if not self.lost:
            self._outbox.send(command(what))

    def listen(self) -> None:
        """Receive the worker's messages."""
        if not self.lost:
            self._loop.add_reader(self._line, self._on_readable)

    def ignore(self) -> None:
        """Stop receiving: the worker's messages wait."""
        if not self.lost:
            self._loop.remove_reader(self._line)

    def kill(self, why: str) -> None:
        """Kill the worker, unless lost already."""
        if not self.lost:
            self.killed_for = why
            self.process.kill()

    def release(self) -> None:
        """Close the connection, which ends the worker. A second call has no effect."""
        if self._line.fileno() >= 0:
            self._loop.remove_reader(self._line)
            self._loop.remove_writer(self._line)
            self._line.close()

    # What it says…

    def _on_readable(self) -> None:
        try:
            data = self._line.recv(READ_BYTES)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        self.messages_received += 1
        for payload in self._frames.feed(data):
            self._take(len(payload), *unmarshalled(payload))
            if self.lost:
                # What it did after its last message is not to be trusted.
                return
        if not (data or self.ended):
            self._lose()

    def _take(self, size: int, kind: int, *values: Any) -> None:
        if kind == WorkerMessage.ROWS:
            since_ns, rows = values
            self._keep_track(rows)
            self._listener.on_rows(rows, since_ns, size)
        elif kind == WorkerMessage.UNTIL:
            self.complete_until_ns, progress = values
            self._listener.on_completeness()
            if progress is not None:
                self.progress = progress
                self._listener.on_progress()
        elif kind == WorkerMessage.CRASHED:
            (self.crash_message,) = values
            self._lose()
        else:
            self.ended = kind == WorkerMessage.ENDED
            self.answer.set_result(values[0] if values else None)

    def _keep_track(self, rows: Iterable[Row]) -> None:
        """Know which requests are open, should the worker be lost."""
        for code, _, uuid, _, _, _ in rows:
            if uuid is None:
                continue
            if code == _ISSUED:
                self.open.add(uuid)
                self.issued += 1
            elif code in _TERMINAL:
                self.open.discard(uuid)

    def _lose(self) -> None:
        self.lost = True
        self.release()
        self._listener.on_loss(self)
        if not self.answer.done():
            self.answer.set_result(None)
