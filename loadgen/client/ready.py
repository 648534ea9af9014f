"""Which connections have something to read: an epoll of their own inside the event loop.

asyncio spends more on telling a protocol that bytes are there than reading them takes. On Linux all
connections therefore share one epoll, which itself is one descriptor in the event loop: a turn of the loop
asks it once and serves every connection that is ready. Elsewhere each is a reader of the event loop.
"""

from __future__ import annotations

import asyncio
import select
from typing import TYPE_CHECKING, Final, Protocol

from loadgen.linux import LINUX

if TYPE_CHECKING:
    from collections.abc import Callable

MOST_A_TURN: Final = 256
"""How many connections are served before the event loop's other work: about a millisecond of work."""


class Ready(Protocol):
    """Calls back when a descriptor can be read, or written where that is asked for, for as long as it can."""

    def watch(self, descriptor: int, on_ready: Callable[[], None]) -> None:
        """Call back whenever there is something to read, or the connection has ended."""

    def watch_writing(self, descriptor: int, on_ready: Callable[[], None] | None) -> None:
        """Call back when a watched descriptor takes bytes again; None: no more."""

    def forget(self, descriptor: int) -> None:
        """Call back no more. To be called before the descriptor is closed."""

    def close(self) -> None:
        """Give back what watching needs."""


class EpollReady:
    """An epoll inside the event loop. Linux."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._epoll = select.epoll()
        self._readers: dict[int, Callable[[], None]] = {}
        self._writers: dict[int, Callable[[], None]] = {}
        self._loop.add_reader(self._epoll.fileno(), self._serve)

    def watch(self, descriptor: int, on_ready: Callable[[], None]) -> None:
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

    def close(self) -> None:
        """Close the epoll; a connection that is closed later finds itself forgotten."""
        self._readers.clear()
        self._loop.remove_reader(self._epoll.fileno())
        self._epoll.close()

    def _serve(self) -> None:
        readers = self._readers
        for descriptor, happened in self._epoll.poll(0, MOST_A_TURN):
            # Serving one connection can close another of the same turn.
            if happened & select.EPOLLOUT and (on_ready := self._writers.get(descriptor)):
                on_ready()
            if happened & ~select.EPOLLOUT and (on_ready := readers.get(descriptor)):
                on_ready()


class LoopReady:
    """Each descriptor a reader of the event loop. Any platform."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()

    def watch(self, descriptor: int, on_ready: Callable[[], None]) -> None:
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

    def close(self) -> None:
        """Nothing to give back."""


def ready() -> Ready:
    """The best that this platform has, for the running event loop."""
    return EpollReady() if LINUX else LoopReady()
