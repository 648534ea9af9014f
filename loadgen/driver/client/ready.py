"""Readiness of connections: a separate epoll inside the event loop.

asyncio spends more on telling a protocol that bytes are there than reading them takes. On Linux all
connections therefore share one epoll, which itself is one descriptor in the event loop: a turn of the loop
asks it once and reads every connection that is ready. Elsewhere each is a reader of the event loop.

When chunks come by the ten thousand per second, a turn for each costs more than the chunk. Then the epoll is
asked by a timer instead, a few thousand times per second, as network cards do with their interrupts: the
kernel has stamped what came meanwhile, and no stream sends two chunks in that time. What waits for the end of
an answer (the next request of a closed loop) waits for as much longer.

Reading comes first. What is done with the bytes takes longer than the read, and when many responses end at
once, what follows each of them would leave the chunks of others unread until the next ones join them; and of
bytes that are read together the kernel keeps one stamp. So it is put off, and done bit by bit between reads.
"""

from __future__ import annotations

import asyncio
import select
import time
from collections import deque
from typing import TYPE_CHECKING, Final

from loadgen.driver.system.clock import TimerFd
from loadgen.driver.system.linux import LINUX

if TYPE_CHECKING:
    from collections.abc import Callable

MOST_A_TURN: Final = 256
"""How many connections are read in a turn of the event loop."""

WORK_NS: Final = 500_000
"""For how long a turn does what was put off."""

REST_NS: Final = 250_000
"""How long the epoll is left alone, when much is coming in."""

MUCH: Final = 60
LITTLE: Final = 40
"""Reads within 4 ms from which on the epoll is left alone, and down to which."""

_WINDOW_NS: Final = 4_000_000


class Ready:
    """Calls back while a descriptor is readable, or writable if requested: a reader of the event loop."""

    #: What is being read now had not arrived at this moment, ns of CLOCK_MONOTONIC; 0 where that is not
    #: known.
    quiet_ns: int = 0

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()

    def watch(self, descriptor: int, on_ready: Callable[[], object]) -> None:
        """Call back whenever there is something to read, or the connection has ended."""
        self._loop.add_reader(descriptor, on_ready)

    def watch_writing(self, descriptor: int, on_ready: Callable[[], None] | None) -> None:
        """Call back when a watched descriptor takes bytes again; None: no more."""
        if on_ready is None:
            self._loop.remove_writer(descriptor)
        else:
            self._loop.add_writer(descriptor, on_ready)

    def forget(self, descriptor: int) -> None:
        """Call back no more. To be called before the descriptor is closed."""
        self._loop.remove_writer(descriptor)
        self._loop.remove_reader(descriptor)

    def put_off(self, work: Callable[[], None]) -> None:
        """Do something soon, when there is time between the reads; in order."""
        self._loop.call_soon(work)

    def left_unread(self) -> None:
        """Note that a connection has unread data; here the callback comes again."""

    async def caught_up(self) -> int | None:
        """Read all received data, run deferred work; return until when all had arrived, None if unknown."""
        return None

    def close(self) -> None:
        """Release the resources of watching."""


class EpollReady(Ready):
    """An epoll inside the event loop. Linux.

    It either listens (the event loop watches the epoll) or rests (a timer asks the epoll). What was put off
    waits in `_later`; `_goes_on` says that a turn for it is due. It is `_crowded` when a turn did not reach
    everybody.

    A connection that is not ready when the epoll is asked has nothing to read, and one that is ready is read
    until it has nothing: so what a turn reads came after the epoll was asked in the turn before.
    """

    def __init__(self) -> None:
        super().__init__()
        self._epoll = select.epoll()
        self._timer = TimerFd()
        self._readers: dict[int, Callable[[], object]] = {}
        self._writers: dict[int, Callable[[], object]] = {}
        self._later: deque[Callable[[], None]] = deque()
        self._goes_on = False
        self._crowded = False
        self._is_left = False
        self._rests = False
        self._served = 0
        self._since_ns = 0
        self._loop.add_reader(self._epoll.fileno(), self._on_ready)
        self._loop.add_reader(self._timer.fd, self._on_timer)

    def watch(self, descriptor: int, on_ready: Callable[[], object]) -> None:
        """Call back whenever there is something to read, or the connection has ended."""
        self._readers[descriptor] = on_ready
        self._epoll.register(descriptor, select.EPOLLIN)

    def watch_writing(self, descriptor: int, on_ready: Callable[[], None] | None) -> None:
        """Call back when a watched descriptor takes bytes again; None: no more."""
        if on_ready is None:
            self._writers.pop(descriptor, None)
            self._epoll.modify(descriptor, select.EPOLLIN)
        else:
            self._writers[descriptor] = on_ready
            self._epoll.modify(descriptor, select.EPOLLIN | select.EPOLLOUT)

    def forget(self, descriptor: int) -> None:
        """Call back no more. To be called before the descriptor is closed."""
        if self._readers.pop(descriptor, None) is not None:
            self._writers.pop(descriptor, None)
            self._epoll.unregister(descriptor)

    def put_off(self, work: Callable[[], None]) -> None:
        """Do something soon, when there is time between the reads; in order."""
        self._later.append(work)
        self._go_on_soon()

    def left_unread(self) -> None:
        """Note that a connection has more to read."""
        self._is_left = True

    async def caught_up(self) -> int | None:
        """Read all received data, and run deferred work."""
        self._loop.call_soon(self._read)
        await asyncio.sleep(0)
        until_ns, done = self.quiet_ns, self._loop.create_future()

        def is_done() -> None:
            if not done.done():
                done.set_result(None)

        self.put_off(is_done)
        await done
        return until_ns

    def close(self) -> None:
        """Close the epoll; connections closed later are forgotten already."""
        self._later.clear()
        self._readers.clear()
        self._loop.remove_reader(self._epoll.fileno())
        self._loop.remove_reader(self._timer.fd)
        self._epoll.close()
        self._timer.close()

    # Turns of the event loop…

    def _on_ready(self) -> None:
        now_ns = self._read()
        if now_ns - self._since_ns >= _WINDOW_NS:
            # A window is over; one that is long over was a quiet one.
            if now_ns - self._since_ns < 2 * _WINDOW_NS and self._served >= MUCH:
                self._rests = True
                self._loop.remove_reader(self._epoll.fileno())
                self._timer.set(now_ns + REST_NS)
            self._served, self._since_ns = 0, now_ns

    def _on_timer(self) -> None:
        if not (self._timer.has_gone_off() and self._rests):
            return
        # Whatever happens in between: who rests is woken again.
        self._timer.set(time.monotonic_ns() + REST_NS)
        now_ns = self._read()
        if now_ns - self._since_ns >= _WINDOW_NS:
            if self._served <= LITTLE:
                self._rests = False
                self._loop.add_reader(self._epoll.fileno(), self._on_ready)
            self._served, self._since_ns = 0, now_ns
        if self._rests:
            self._timer.set(now_ns if self._crowded else now_ns + REST_NS)

    def _read(self) -> int:
        """Read all ready connections; return the time."""
        readers = self._readers
        asked_ns = time.monotonic_ns()
        self._is_left = False
        ready = self._epoll.poll(0, MOST_A_TURN)
        for descriptor, happened in ready:
            # Serving one connection can close another of the same turn.
            if happened & select.EPOLLOUT and (on_ready := self._writers.get(descriptor)):
                on_ready()
            if happened & ~select.EPOLLOUT and (on_ready := readers.get(descriptor)):
                on_ready()
        self._served += len(ready)
        self._crowded = len(ready) == MOST_A_TURN
        if not (self._crowded or self._is_left):
            self.quiet_ns = asked_ns
        return time.monotonic_ns()

    def _go_on_soon(self) -> None:
        if not self._goes_on:
            self._goes_on = True
            self._loop.call_soon(self._go_on)

    def _go_on(self) -> None:
        """Run deferred work, for a while."""
        self._goes_on = False
        # While others wait to be read, as little as keeps it going.
        until_ns = time.monotonic_ns() + (0 if self._crowded else WORK_NS)
        try:
            while self._later:
                self._later.popleft()()
                if time.monotonic_ns() >= until_ns:
                    break
        finally:
            if self._later:
                self._go_on_soon()


def ready() -> Ready:
    """The best that this platform has, for the running event loop."""
    return EpollReady() if LINUX else Ready()
