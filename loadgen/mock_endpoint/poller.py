"""Waiting for sockets and for a moment at once. This is the one place of the engine where platforms differ.

`epoll` counts in milliseconds, so on Linux a timerfd among the sockets wakes it to the microsecond. Elsewhere
(`kqueue` on macOS) the wait itself takes a fraction of a millisecond.
"""

from __future__ import annotations

import select
import selectors
import time
from typing import TYPE_CHECKING, Final, Protocol

from loadgen.driver.system.clock import TimerFd
from loadgen.driver.system.linux import LINUX

if TYPE_CHECKING:
    from collections.abc import Sequence

READABLE: Final = 1
"""There is something to read, or the peer has gone."""

WRITABLE: Final = 4
"""There is room to write."""

_EVENTS: Final = {
    selectors.EVENT_READ: READABLE,
    selectors.EVENT_WRITE: WRITABLE,
    selectors.EVENT_READ | selectors.EVENT_WRITE: READABLE | WRITABLE,
}
_MOST_EVENTS: Final = 256
_SECOND: Final = 1_000_000_000


class Poller(Protocol):
    """Waits for sockets."""

    def watch(self, fd: int, *, writable: bool = False) -> None:
        """Report `fd` when readable; with `writable`, when writable too."""

    def forget(self, fd: int) -> None:
        """Report no more about `fd`."""

    def wait(self, until_ns: int | None) -> Sequence[tuple[int, int]]:
        """Wait until there is something to report, or for a moment.

        Args:
            until_ns: The moment, in ns of CLOCK_MONOTONIC; None waits for the sockets alone. When it has
                passed, nothing is waited for.

        Returns:
            File descriptors and what is up with them: `READABLE`, `WRITABLE` or both; maybe descriptors
            that no caller asked about.
        """

    def close(self) -> None:
        """Release the descriptors of the poller."""


class EpollPoller:
    """Linux: epoll, with a timerfd for the moment."""

    def __init__(self) -> None:
        self._timer = TimerFd()
        self._epoll = select.epoll()
        self._watched: set[int] = set()
        # Edge-triggered: going off is reported once, and need not be read away.
        self._epoll.register(self._timer.fd, select.EPOLLIN | select.EPOLLET)

    def watch(self, fd: int, *, writable: bool = False) -> None:
        """Report `fd` when readable; with `writable`, when writable too."""
        mask = select.EPOLLIN | select.EPOLLOUT if writable else select.EPOLLIN
        if fd in self._watched:
            self._epoll.modify(fd, mask)
        else:
            self._epoll.register(fd, mask)
            self._watched.add(fd)

    def forget(self, fd: int) -> None:
        """Report no more about `fd`."""
        self._watched.discard(fd)
        self._epoll.unregister(fd)

    def wait(self, until_ns: int | None) -> Sequence[tuple[int, int]]:
        """Wait until there is something to report, or for a moment."""
        if until_ns is not None:
            if until_ns <= time.monotonic_ns():
                return self._epoll.poll(0, _MOST_EVENTS)
            self._timer.set(until_ns)
        return self._epoll.poll(-1, _MOST_EVENTS)

    def close(self) -> None:
        """Close epoll and the timerfd."""
        self._epoll.close()
        self._timer.close()


class SelectorPoller:
    """Any platform: the standard library's best selector, with a timeout for the due time."""

    def __init__(self) -> None:
        self._selector = selectors.DefaultSelector()

    def watch(self, fd: int, *, writable: bool = False) -> None:
        """Report `fd` when readable; with `writable`, when writable too."""
        mask = selectors.EVENT_READ | selectors.EVENT_WRITE if writable else selectors.EVENT_READ
        try:
            self._selector.modify(fd, mask)
        except KeyError:
            self._selector.register(fd, mask)

    def forget(self, fd: int) -> None:
        """Report no more about `fd`."""
        self._selector.unregister(fd)

    def wait(self, until_ns: int | None) -> Sequence[tuple[int, int]]:
        """Wait until there is something to report, or for a moment."""
        timeout = None if until_ns is None else max(0.0, (until_ns - time.monotonic_ns()) / _SECOND)
        return [(key.fd, _EVENTS[mask]) for key, mask in self._selector.select(timeout)]

    def close(self) -> None:
        """Close the selector."""
        self._selector.close()


def system_poller() -> Poller:
    """The best poller that this platform has."""
    return EpollPoller() if LINUX else SelectorPoller()
