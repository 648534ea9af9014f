"""Deadlines of many requests that all have the same time: one timer for all of them.

Because each request gets as long as every other, they expire in the order in which they began; only the first
one needs a timer. A request that ends in time, as nearly all do, costs two operations on a dictionary.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

_T = TypeVar("_T")


class Deadlines(Generic[_T]):
    """Calls back for whoever is not done in time.

    Args:
        after_s: The time that each has.
        on_expired: Called with who is late, and since when on the event loop's clock; it is forgotten then.
    """

    def __init__(self, after_s: float, on_expired: Callable[[_T, float], None]) -> None:
        self._after_s = after_s
        self._on_expired = on_expired
        self._due_s: dict[_T, float] = {}
        self._timer: asyncio.TimerHandle | None = None

    def start(self, who: _T) -> None:
        """Begin somebody's time."""
        loop = asyncio.get_running_loop()
        due_s = self._due_s[who] = loop.time() + self._after_s
        if self._timer is None:
            self._timer = loop.call_at(due_s, self._expire, loop)

    def due_s(self, who: _T) -> float:
        """When somebody's time is over, on the event loop's clock; now, when it is over already."""
        return self._due_s.get(who) or asyncio.get_running_loop().time()

    def stop(self, who: _T) -> None:
        """Somebody is done."""
        self._due_s.pop(who, None)

    def close(self) -> None:
        """Forget everybody."""
        self._due_s.clear()
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

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
