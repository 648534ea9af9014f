"""The limit of requests in flight of an open loop."""

from __future__ import annotations

import asyncio
from collections import deque
from typing import TYPE_CHECKING

from loadgen.driver.system.clock import first_to_end

if TYPE_CHECKING:
    from loadgen.driver.phase import Phase
    from loadgen.driver.system.clock import Clock


class ConcurrencyLimit:
    """Free slots, each with the time since when free: the earliest time for the next request.

    One at a time waits: an open loop issues in the order of its schedule.
    """

    def __init__(self, count: int, clock: Clock) -> None:
        self._free_ns = deque([0] * count)
        self._clock = clock
        self._waiting: asyncio.Future[int] | None = None

    async def acquire(self, phase: Phase) -> int | None:
        """Take the slot that is free for longest, or next; return since when, ns of CLOCK_MONOTONIC.

        Returns None for a slot that is not free before the end of the phase.
        """
        if self._free_ns:
            return self._free_ns.popleft()
        if phase.end_ns is None:
            return await self._wait()
        freed: list[int] = []

        async def wait() -> None:
            freed.append(await self._wait())

        await first_to_end(wait(), self._clock.sleep_until(phase.end_ns))
        if freed and phase.is_over(freed[0]):
            self.release()
            return None
        return freed[0] if freed else None

    async def _wait(self) -> int:
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

    def release(self) -> None:
        """Release a slot to the first waiting request, or to the next request."""
        now_ns = self._clock.now_ns()
        if self._waiting is not None and not self._waiting.done():
            self._waiting.set_result(now_ns)
        else:
            self._free_ns.append(now_ns)
