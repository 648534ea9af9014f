"""The loop: due tasks run in order of due time, with ready sockets in between.

    due tasks ─▶ ready sockets, due tasks after each ─▶ truths, when there is time ─▶ sleep ─▶ …

Sockets come before a backlog: a request that is read late would be answered late, too.
"""

from __future__ import annotations

import errno
import socket
import time
from itertools import count
from select import select
from typing import TYPE_CHECKING, Final

from loadgen.driver.client.arrival import StampingSocket
from loadgen.mock_endpoint.client_connection import NOW, PARKED, MockConnection, Task
from loadgen.mock_endpoint.poller import WRITABLE
from loadgen.mock_endpoint.timer_queue import TimerQueue
from loadgen.mock_endpoint.tls_filter import TlsLayer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from ssl import SSLContext

    from loadgen.mock_endpoint.client_connection import RawRequest
    from loadgen.mock_endpoint.ledger import Ledger
    from loadgen.mock_endpoint.poller import Poller
    from loadgen.mock_endpoint.service import Service
    from loadgen.mock_endpoint.stall import Stall

_Due = tuple[int, int, MockConnection, Task, bytes]
"""When something is due, a number to tell it from others, for whom, by which task, and what is to be sent."""

_IDLE_NS: Final = 200_000
_SLOTS_IN_A_GO: Final = 64
_ACCEPT_AT_ONCE: Final = 64
_OUT_OF_FILES: Final = (errno.EMFILE, errno.ENFILE)


class Engine:
    """The server loop: accepts connections, and runs the tasks that answer requests.

    Args:
        poller: Waits.
        listeners: Where clients come; non-blocking.
        service: Makes the tasks.
        ledger: Where the truth waits to be written.
        stall: When nothing is done.
        closes: Whether each connection is closed after its first response.
        tls: The server's certificate; None for plain HTTP.
    """

    def __init__(
        self,
        poller: Poller,
        listeners: Sequence[socket.socket],
        service: Service,
        ledger: Ledger,
        stall: Stall,
        *,
        closes: bool = False,
        tls: SSLContext | None = None,
    ) -> None:
        self.closes = closes
        self._tls = tls
        self._poller = poller
        self._listeners = {listener.fileno(): listener for listener in listeners}
        self._service = service
        self._ledger = ledger
        self._stall = stall
        self._connections: dict[int, MockConnection] = {}
        self._agenda: TimerQueue[_Due] = TimerQueue()
        self._blocked: dict[MockConnection, tuple[Task, int]] = {}
        self._serials = count()
        self._out_of_files = False
        self._moving_since_ns = 0

    def run(self, stop_fd: int) -> None:
        """Serve until a file descriptor becomes readable; then cut off open responses."""
        self._poller.watch(stop_fd)
        self._watch_listeners()
        stopped = False
        while not stopped:
            self._run_due()
            ready = self._poller.wait(self._until())
            if self._is_stopped_in_stall(stop_fd):
                break
            for fd, event in ready:
                connection = self._connections.get(fd)
                if connection is not None:
                    self._heed(connection, event)
                    self._run_due()
                elif fd in self._listeners:
                    self._accept(self._listeners[fd])
                elif fd == stop_fd:
                    stopped = True
        for connection in list(self._connections.values()):
            self._lose(connection)

    # What a connection calls

    def begin(self, connection: MockConnection, request: RawRequest) -> None:
        """Answer a request with a task, which owns the connection until the end."""
        connection.task = task = self._service.answer(connection, request)
        due_ns, data = next(task)
        if due_ns == NOW:
            sent_ns = time.monotonic_ns()
            connection.write(data)
            self._resume(connection, task, next(self._serials), sent_ns)
        elif due_ns != PARKED:
            self._agenda.add((due_ns, next(self._serials), connection, task, data))

    def wake(self, connection: MockConnection) -> None:
        """Resume the connection's parked task soon."""
        if connection.task is not None:
            now_ns = time.monotonic_ns()
            self._agenda.add((now_ns, next(self._serials), connection, connection.task, b""))

    def unblock(self, connection: MockConnection) -> None:
        """Resume the connection's task: there is room to write again."""
        task, sent_ns = self._blocked.pop(connection)
        self._resume(connection, task, next(self._serials), sent_ns)

    def watch(self, connection: MockConnection, *, writable: bool) -> None:
        """Notify the connection when readable; with `writable`, when writable too."""
        self._poller.watch(connection.fd, writable=writable)

    # The parts of the loop

    def _run_due(self) -> None:
        """Run the due tasks: none that become due meanwhile, and not all of a long backlog."""
        now_ns = time.monotonic_ns()
        for _ in range(_SLOTS_IN_A_GO):
            entries = self._agenda.take(now_ns)
            if not entries:
                return
            self._send(entries)

    def _is_stopped_in_stall(self, stop_fd: int) -> bool:
        """Wait out a stall; whether a signal stopped the server meanwhile."""
        left_s = self._stall.left_s(time.monotonic_ns())
        if not left_s:
            return False
        readable, _, _ = select([stop_fd], [], [], left_s)
        self._moving_since_ns = time.monotonic_ns()
        for connection in self._connections.values():
            connection.room_ns = self._moving_since_ns
        return bool(readable)

    def _send(self, entries: Iterable[_Due]) -> None:
        for _, serial, connection, task, data in entries:
            if connection.task is task:
                sent_ns = time.monotonic_ns()
                try:
                    connection.write(data)
                    self._resume(connection, task, serial, sent_ns)
                    if connection.task is None:
                        connection.go_on()
                except OSError:
                    self._lose(connection)

    def _resume(self, connection: MockConnection, task: Task, serial: int, sent_ns: int) -> None:
        """Resume a task with the time at which the bytes were sent, and take the next bytes."""
        if connection.blocked:
            self._blocked[connection] = task, sent_ns
            return
        try:
            due_ns, data = task.send(sent_ns)
        except StopIteration:
            connection.task = None
        else:
            if due_ns != PARKED:
                self._agenda.add((due_ns, serial, connection, task, data))

    def _heed(self, connection: MockConnection, event: int) -> None:
        if event & WRITABLE:
            self._guard(connection, connection.flush)
        if event & ~WRITABLE:
            self._guard(connection, connection.read)

    def _guard(self, connection: MockConnection, action: Callable[[], None]) -> None:
        """Run an action of a connection, and close the connection if the client has gone."""
        try:
            action()
        except OSError:
            self._lose(connection)

    def _until(self) -> int | None:
        """Use the time until the next task is due, and say until when to sleep."""
        now_ns = time.monotonic_ns()
        next_ns = self._agenda.next_ns()
        idle = next_ns is None or next_ns - now_ns > _IDLE_NS
        if self._ledger.pressing or (idle and self._ledger):
            self._ledger.write_slice()
            return now_ns
        return next_ns

    def _accept(self, listener: socket.socket) -> None:
        for _ in range(_ACCEPT_AT_ONCE):
            try:
                accepted, _ = listener.accept()
            except OSError as error:
                if error.errno in _OUT_OF_FILES:
                    self._watch_listeners(out_of_files=True)
                # Else no request is waiting any more, or one has left while waiting.
                return
            client = StampingSocket(fileno=accepted.detach())
            client.settimeout(0)
            client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            client.stamp_arrivals()
            connection = MockConnection(client, self, None if self._tls is None else TlsLayer(self._tls))
            connection.room_ns = self._moving_since_ns
            self._connections[connection.fd] = connection
            self._poller.watch(connection.fd)

    def _lose(self, connection: MockConnection) -> None:
        """Close a connection; the open request is not completed."""
        if self._connections.pop(connection.fd, None) is None:
            return
        self._poller.forget(connection.fd)
        self._blocked.pop(connection, None)
        task, connection.task = connection.task, None
        if task is not None:
            task.close()
        begun = connection.close()
        if begun is not None:
            self._service.abandoned(begun)
        if self._out_of_files:
            self._watch_listeners()

    def _watch_listeners(self, *, out_of_files: bool = False) -> None:
        """Accept clients; without free descriptors, let clients wait."""
        self._out_of_files = out_of_files
        for fd in self._listeners:
            if out_of_files:
                self._poller.forget(fd)
            else:
                self._poller.watch(fd)
