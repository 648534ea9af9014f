"""The queue: a limited number of requests is served at once, the rest wait in order of arrival."""

from __future__ import annotations

import asyncio
import time
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import AsyncIterator


class Slots:
    """The places at which requests are served.

    Args:
        number: How many there are; 0 for no limit.

    Attributes:
        running: How many requests are being served.
        waiting: How many wait for a slot.
    """

    def __init__(self, number: int) -> None:
        # asyncio's semaphore wakes those who wait in the order in which they came.
        self._free = asyncio.Semaphore(number) if number else None
        self.running = 0
        self.waiting = 0

    @asynccontextmanager
    async def taken(self, since_ns: int) -> AsyncIterator[int]:
        """Wait for a slot and hold the slot.

        Args:
            since_ns: When the request arrived, in ns of CLOCK_MONOTONIC.

        Yields:
            How long it waited, in ns; exactly 0 when a slot was free.
        """
        waited_ns = 0
        if self._free is not None:
            must_wait = self._free.locked()
            self.waiting += 1
            try:
                await self._free.acquire()
            finally:
                self.waiting -= 1
            waited_ns = time.monotonic_ns() - since_ns if must_wait else 0
        self.running += 1
        try:
            yield waited_ns
        finally:
            self.running -= 1
            if self._free is not None:
                self._free.release()
