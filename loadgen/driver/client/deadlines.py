"""Deadlines of many requests with mostly equal time limits: one timer per limit.

Because each request gets as long as every other, they expire in the order in which they began; only the first
one needs a timer. A request that ends in time, as nearly all do, costs two operations on a dictionary. One
whose time began earlier, with an attempt that failed, has a timer of its own.
"""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

_T = TypeVar("_T")


class Deadlines(Generic[_T]):
    """Calls back for a request that is not done in time.

    Args:
        after_s: The time that each has.
        on_expired: Called with who is late, and since when on the event loop's clock; it is forgotten then.
    """

    def __init__(self, after_s: float, on_expired: Callable[[_T, float], None]) -> None:
        self._after_s = after_s
        self._on_expired = on_expired
        self._due_s: dict[_T, float] = {}
        self._timer: asyncio.TimerHandle | None = None
        self._apart: dict[_T, asyncio.TimerHandle] = {}

    def start(self, who: _T, due_s: float | None = None) -> None:
        """Start or continue a request's time limit, on the event loop's clock."""
        if due_s is not None:
            self._apart[who] = asyncio.get_running_loop().call_at(due_s, self._expire_apart, who, due_s)
            return
        # The event loop's clock is CLOCK_MONOTONIC.
        due_s = self._due_s[who] = time.monotonic() + self._after_s
        if self._timer is None:
            loop = asyncio.get_running_loop()
            self._timer = loop.call_at(due_s, self._expire, loop)

    def due_s(self, who: _T) -> float:
        """The end of a request's time limit, on the event loop's clock; now, if already past."""
        if (timer := self._apart.get(who)) is not None:
            return timer.when()
        return self._due_s.get(who) or asyncio.get_running_loop().time()

    def stop(self, who: _T) -> None:
        """A request is done."""
        self._due_s.pop(who, None)
        if self._apart and (timer := self._apart.pop(who, None)) is not None:
            timer.cancel()

    def close(self) -> None:
        """Forget everybody."""
        self._due_s.clear()
        while self._apart:
            self._apart.popitem()[1].cancel()
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _expire_apart(self, who: _T, due_s: float) -> None:
        del self._apart[who]
        self._on_expired(who, due_s)

    def _expire(self, loop: asyncio.AbstractEventLoop) -> None:
        # A timer of asyncio's may go off early by as much as its clock's resolution.
        now_s = loop.time() + 1e-6
        self._timer = None
        while self._due_s:
            who, due_s = next(iter(self._due_s.items()))
            if due_s > now_s:
                self._timer = loop.call_at(due_s, self._expire, loop)
                return
            del self._due_s[who]
            self._on_expired(who, due_s)
