"""A time limit to which the delay of this process counts only in part.

When an event loop has been held up, what arrived meanwhile and the limit are both due, and `asyncio.timeout`
gives up on an answer that is there. So time is counted in ticks: each counts once, however late it comes.
"""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

_TICKS: Final = 16


@asynccontextmanager
async def time_limit(seconds: float) -> AsyncIterator[None]:
    """Cancel the block after this time.

    Raises:
        TimeoutError: It took longer.
    """
    async with asyncio.timeout(None) as limit:
        ticks = _Ticks(limit, seconds / _TICKS)
        try:
            yield
        finally:
            ticks.stop()


class _Ticks:
    def __init__(self, limit: asyncio.Timeout, length_s: float) -> None:
        self._loop = asyncio.get_running_loop()
        self._limit = limit
        self._length_s = length_s
        self._left = _TICKS
        self._next = self._loop.call_later(length_s, self._tick)

    def stop(self) -> None:
        self._next.cancel()

    def _tick(self) -> None:
        self._left -= 1
        if self._left:
            self._next = self._loop.call_later(self._length_s, self._tick)
        else:
            # After what has just arrived: its callbacks are first in the queue.
            self._limit.reschedule(self._loop.time())
