"""Helpers for tests of issuing: a manual clock, and loads in one line."""

from __future__ import annotations

import asyncio
import heapq
from itertools import count
from typing import TYPE_CHECKING, Any

from loadgen.driver.arrivals.rate_profile import Flat
from loadgen.driver.load import Open, ProcessArrivals
from loadgen.driver.system.clock import Clock

if TYPE_CHECKING:
    from loadgen.driver.arrivals.rate_profile import Profile


def open_loop(process: str, rate: float | Profile, burstiness: float | None = None, **others: Any) -> Open:
    """An open loop at a rate.

    Args:
        process: The name of its arrival process.
        rate: In requests per second; a number for one that does not change.
        burstiness: The shape of a process that takes one.
        others: The other members of `Open`.
    """
    profile = Flat(float(rate)) if isinstance(rate, int | float) else rate
    return Open(ProcessArrivals(process, profile, burstiness), **others)


class ManualClock(Clock):
    """A clock that stands still until every sleeper sleeps, and then jumps to the first one's moment.

    Args:
        start_ns: The time at first.
    """

    def __init__(self, start_ns: int = 1_000_000_000) -> None:
        self._now_ns = start_ns
        self._sleepers: list[tuple[int, int, asyncio.Future[None]]] = []
        self._order = count()

    def now_ns(self) -> int:
        """The time, in ns."""
        return self._now_ns

    async def sleep_until(self, at_ns: int) -> None:
        """Return when the clock has been advanced to `at_ns`."""
        if at_ns <= self._now_ns:
            await asyncio.sleep(0)
            return
        due: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        heapq.heappush(self._sleepers, (at_ns, next(self._order), due))
        await due

    def spend(self, duration_ns: int) -> None:
        """Let time pass as work does, without waking a sleeper."""
        self._now_ns += duration_ns

    def advance(self) -> bool:
        """Jump to the first sleeper's moment and wake it; return whether there was one."""
        while self._sleepers:
            at_ns, _, due = heapq.heappop(self._sleepers)
            if not due.done():
                self._now_ns = max(at_ns, self._now_ns)
                due.set_result(None)
                return True
        return False

    def close(self) -> None:
        """Release nothing: the clock has no resources."""
