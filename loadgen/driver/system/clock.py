"""Time: the one clock for stamps, and precise waiting.

The event loop's own timers are late by up to a millisecond (`epoll` counts in milliseconds), so on Linux a
timerfd wakes the loop, earlier by what waking usually takes; elsewhere the loop's timer wakes it a little
early and it yields until the moment.
"""

from __future__ import annotations

import asyncio
import ctypes
import os
import time
from contextlib import suppress
from heapq import heappop, heappush
from itertools import count
from typing import TYPE_CHECKING, Any, Final

from loadgen.driver.system.linux import LINUX

if TYPE_CHECKING:
    from collections.abc import Coroutine

_ABSOLUTE: Final = 1


class _Timespec(ctypes.Structure):
    _fields_ = (("seconds", ctypes.c_long), ("nanoseconds", ctypes.c_long))


class _Timer(ctypes.Structure):
    _fields_ = (("interval", _Timespec), ("value", _Timespec))


class TimerFd:
    """Becomes readable at a moment of CLOCK_MONOTONIC."""

    def __init__(self) -> None:
        libc = ctypes.CDLL(None, use_errno=True)
        self.fd: int = libc.timerfd_create(time.CLOCK_MONOTONIC, os.O_NONBLOCK | os.O_CLOEXEC)
        if self.fd < 0:
            raise OSError(ctypes.get_errno(), "timerfd_create")
        self._settime = libc.timerfd_settime
        self._timer = _Timer()
        self._moment = self._timer.value
        self._timer_at = ctypes.byref(self._timer)

    def set(self, at_ns: int) -> None:
        """Be readable from a moment on, and not before; 0 is never."""
        self._moment.seconds, self._moment.nanoseconds = divmod(at_ns, _SECOND)
        if self._settime(self.fd, _ABSOLUTE, self._timer_at, None) < 0:
            raise OSError(ctypes.get_errno(), "timerfd_settime")

    def has_gone_off(self) -> bool:
        """Whether the timer has expired; true once. The timer may have been set again meanwhile."""
        with suppress(BlockingIOError):
            os.read(self.fd, 8)
            return True
        return False

    def close(self) -> None:
        """Close the descriptor."""
        os.close(self.fd)


_SECOND: Final = 1_000_000_000
_EARLY_S: Final = 0.0015

_MOST_EARLY_NS: Final = 50_000
"""An idle CPU of a virtual machine takes about that long to wake up."""

_LATER_NS: Final = 1_000
_EARLIER_NS: Final = 250
"""By how much the next wake moves after one that came before its moment, or after it: one of five comes
before it, and what is left is waited for actively."""


class Clock:
    """The machine's clock, waiting by the event loop's own timer. Any platform."""

    def now_ns(self) -> int:
        """The time, in ns of CLOCK_MONOTONIC."""
        return time.monotonic_ns()

    async def sleep_until(self, at_ns: int) -> None:
        """Return at `at_ns` or right after; at once for a past time, but never without yielding."""
        await asyncio.sleep(max(0.0, (at_ns - time.monotonic_ns()) / _SECOND - _EARLY_S))
        while time.monotonic_ns() < at_ns:  # noqa: ASYNC110 (it is the moment that is awaited)
            await asyncio.sleep(0)

    def close(self) -> None:
        """Release the descriptors of the clock, if any."""


class TimerClock(Clock):
    """The machine's clock, with a shared timerfd. For one event loop. Linux."""

    def __init__(self) -> None:
        self._timer = TimerFd()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._sleepers: list[tuple[int, int, asyncio.Future[None]]] = []
        self._order = count()
        self._early_ns = 0

    async def sleep_until(self, at_ns: int) -> None:
        """Return at `at_ns` or right after; at once for a past time, but never without yielding."""
        if at_ns <= time.monotonic_ns():
            await asyncio.sleep(0)
            return
        if self._loop is None:
            self._loop = asyncio.get_running_loop()
            self._loop.add_reader(self._timer.fd, self._wake)
        due, sleepers = self._loop.create_future(), self._sleepers
        heappush(sleepers, (at_ns, next(self._order), due))
        if sleepers[0][2] is due:
            self._timer.set(at_ns - self._early_ns)
        await due
        if time.monotonic_ns() >= at_ns:
            self._early_ns = min(self._early_ns + _EARLIER_NS, _MOST_EARLY_NS)
            return
        self._early_ns = max(0, self._early_ns - _LATER_NS)
        while time.monotonic_ns() < at_ns:
            pass

    def close(self) -> None:
        """Close the timerfd."""
        if self._loop is not None and not self._loop.is_closed():
            self._loop.remove_reader(self._timer.fd)
        self._timer.close()

    def _wake(self) -> None:
        """Wake all waiters that are due, and drop cancelled waiters."""
        if not self._timer.has_gone_off():
            return
        sleepers, until_ns = self._sleepers, time.monotonic_ns() + self._early_ns
        while sleepers and (sleepers[0][0] <= until_ns or sleepers[0][2].done()):
            due = heappop(sleepers)[2]
            if not due.done():
                due.set_result(None)
        if sleepers:
            self._timer.set(sleepers[0][0] - self._early_ns)


def system_clock() -> Clock:
    """The best clock that this platform has."""
    return TimerClock() if LINUX else Clock()


async def first_to_end(*works: Coroutine[Any, Any, Any]) -> None:
    """Await the first of several to end, and cancel the others."""
    tasks = [asyncio.create_task(work) for work in works]
    try:
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
    for task in done:
        task.result()
