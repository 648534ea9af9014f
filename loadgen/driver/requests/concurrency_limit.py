"""Slots: the limit of requests in flight in an open loop. A due request without a slot waits."""

from __future__ import annotations

import asyncio
from collections import deque
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from loadgen.driver.system.clock import Clock


class ConcurrencyLimit:
    """Free slots, each with the time since when free: the earliest time for the next request.

    One at a time waits: an open loop issues in the order of its schedule.
    """

    def __init__(self, count: int, clock: Clock) -> None:
        self._free_ns = deque([0] * count)
        self._clock = clock
        self._waiting: asyncio.Future[int] | None = None

    def take(self) -> int | None:
        """Take the slot that has been free for longest; return since when, ns of CLOCK_MONOTONIC, or None."""
        return self._free_ns.popleft() if self._free_ns else None

    async def wait(self) -> int:
        """Take the next place that is given back; return when that was."""
        waiting: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        self._waiting = waiting
        try:
            return await waiting
        except asyncio.CancelledError:
            if waiting.done() and not waiting.cancelled():
                # It was handed over to a request that has gone.
                self._free_ns.append(waiting.result())
            raise
        finally:
            self._waiting = None

    def give_back(self) -> None:
        """Release a slot to the first waiting request, or to the next request."""
        now_ns = self._clock.now_ns()
        if self._waiting is not None and not self._waiting.done():
            self._waiting.set_result(now_ns)
        else:
            self._free_ns.append(now_ns)
