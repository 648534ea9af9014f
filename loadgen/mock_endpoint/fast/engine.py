"""The loop: what is due is done in the order in which it is due, and in between whatever the sockets bring.

    due tasks ─▶ ready sockets, due tasks after each ─▶ truths, when there is time ─▶ sleep ─▶ …

While tasks are waiting it wakes at most every 50 us: that is how late a chunk may leave when nothing is
amiss, and it lets one wake-up send several chunks when there are a hundred thousand a second.
"""

from __future__ import annotations

import errno
import socket
import time
from heapq import heappop, heappush, heapreplace
from itertools import count
from typing import TYPE_CHECKING, Final

from loadgen.client.arrival import StampingSocket
from loadgen.mock_endpoint.fast.connection import PARKED, Connection
from loadgen.mock_endpoint.fast.poller import WRITABLE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from loadgen.mock_endpoint.fast.connection import Request, Task
    from loadgen.mock_endpoint.fast.ledger import Ledger
    from loadgen.mock_endpoint.fast.poller import Poller
    from loadgen.mock_endpoint.fast.service import Service

_TICK_NS: Final = 100_000
_IDLE_NS: Final = 200_000
_ACCEPT_AT_ONCE: Final = 64
_OUT_OF_FILES: Final = (errno.EMFILE, errno.ENFILE)


class Engine:
    """Accepts connections, and runs the tasks that answer their requests.

    Args:
        poller: Waits.
        listeners: Where clients come; non-blocking.
        service: Makes the tasks.
        ledger: Where the truth waits to be written.
    """

    def __init__(
        self,
        poller: Poller,
        listeners: Sequence[socket.socket],
        service: Service,
        ledger: Ledger,
    ) -> None:
        self._poller = poller
        self._listeners = {listener.fileno(): listener for listener in listeners}
        self._service = service
        self._ledger = ledger
        self._connections: dict[int, Connection] = {}
        self._due: list[tuple[int, int, Connection, Task]] = []
        self._serials = count()
        self._out_of_files = False

    def run(self, told_to_stop: int) -> None:
        """Serve until a file descriptor becomes readable; then cut off what is being served."""
        self._poller.watch(told_to_stop)
        self._watch_listeners()
        stopped = False
        while not stopped:
            self._run_due()
            for fd, event in self._poller.wait(self._until()):
                connection = self._connections.get(fd)
                if connection is not None:
                    self._heed(connection, event)
                    self._run_due()
                elif fd in self._listeners:
                    self._accept(self._listeners[fd])
                elif fd == told_to_stop:
                    stopped = True
        for connection in list(self._connections.values()):
            self._lose(connection)

    # What a connection calls

    def begin(self, connection: Connection, request: Request) -> None:
        """Answer a request, by a task that becomes the connection's until it ends."""
        connection.task = task = self._service.answer(connection, request)
        try:
            due_ns = next(task)
        except StopIteration:
            connection.task = None
        else:
            if due_ns != PARKED:
                heappush(self._due, (due_ns, next(self._serials), connection, task))

    def wake(self, connection: Connection) -> None:
        """Resume the connection's parked task soon."""
        if connection.task is not None:
            now_ns = time.monotonic_ns()
            heappush(self._due, (now_ns, next(self._serials), connection, connection.task))

    def watch(self, connection: Connection, *, writable: bool) -> None:
        """Tell the connection when it is readable; with `writable`, when it is writable too."""
        self._poller.watch(connection.fd, writable=writable)

    # The parts of the loop

    def _run_due(self) -> None:
        """Resume the tasks that are due by now, not those that become due meanwhile: sockets come first."""
        due = self._due
        now_ns = time.monotonic_ns() if due else 0
        while due and due[0][0] <= now_ns:
            _, _, connection, task = due[0]
            # What a task pushes meanwhile is due after it: the task stays the first.
            try:
                next_ns = next(task)
            except StopIteration:
                heappop(due)
                if task is connection.task:
                    self._answered(connection)
            except OSError:
                heappop(due)
                self._lose(connection)
            else:
                if next_ns == PARKED:
                    heappop(due)
                else:
                    heapreplace(due, (next_ns, next(self._serials), connection, task))

    def _answered(self, connection: Connection) -> None:
        connection.task = None
        try:
            connection.go_on()
        except OSError:
            self._lose(connection)

    def _heed(self, connection: Connection, event: int) -> None:
        try:
            if event & WRITABLE:
                connection.flush()
            if event & ~WRITABLE:
                connection.read()
        except OSError:
            self._lose(connection)

    def _until(self) -> int | None:
        """Use the time until the next task is due, and say until when to sleep."""
        now_ns = time.monotonic_ns()
        next_ns = self._due[0][0] if self._due else None
        idle = next_ns is None or next_ns - now_ns > _IDLE_NS
        if self._ledger.pressing or (idle and self._ledger):
            self._ledger.write_slice()
            return now_ns
        return None if next_ns is None else max(next_ns, now_ns + _TICK_NS)

    def _accept(self, listener: socket.socket) -> None:
        for _ in range(_ACCEPT_AT_ONCE):
            try:
                accepted, _ = listener.accept()
            except OSError as error:
                if error.errno in _OUT_OF_FILES:
                    self._watch_listeners(out_of_files=True)
                # Else nobody is waiting any more, or one has left while waiting.
                return
            client = StampingSocket(fileno=accepted.detach())
            client.settimeout(0)
            client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            client.stamp_arrivals()
            connection = Connection(client, self)
            self._connections[connection.fd] = connection
            self._poller.watch(connection.fd)

    def _lose(self, connection: Connection) -> None:
        """Part with a connection; what it was at is not completed."""
        if self._connections.pop(connection.fd, None) is None:
            return
        self._poller.forget(connection.fd)
        task, connection.task = connection.task, None
        if task is not None:
            task.close()
        begun = connection.close()
        if begun is not None:
            self._service.abandoned(begun)
        if self._out_of_files:
            self._watch_listeners()

    def _watch_listeners(self, *, out_of_files: bool = False) -> None:
        """Accept clients; or, as long as there is no file left for them, let them wait."""
        self._out_of_files = out_of_files
        for fd in self._listeners:
            if out_of_files:
                self._poller.forget(fd)
            else:
                self._poller.watch(fd)
