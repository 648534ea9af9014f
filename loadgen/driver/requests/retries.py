"""Whether another attempt follows one that failed, and when."""

from __future__ import annotations

import asyncio
from random import Random
from typing import Final

from loadgen.driver.client.failure import mendable

FIRST_WAIT_S: Final = 0.5
MOST_WAIT_S: Final = 30.0
"""Where the server names no time: half a second to begin with, twice as long each time, at most this."""


class Retries:
    """Decides on further attempts, for all requests of a worker.

    Args:
        limit: How many may follow the first attempt at a request.
        total_s: All attempts at a request, and the waits between them, take no longer than this.
        seed: Of the waits, up to half of which is chance: who failed together is not to come back together.
    """

    def __init__(self, limit: int = 0, total_s: float = 0.0, seed: int | str = 0) -> None:
        self._limit = limit
        self._total_s = total_s
        self._random = Random(seed)  # noqa: S311 (no secret depends on it)
        self._stopped = asyncio.Event()

    def stop(self) -> None:
        """Let no further attempt begin: the failures that there are stand."""
        self._stopped.set()

    def due_s(self, begun_s: float) -> float:
        """The end of a request's time limit, on the clock of the request's start."""
        return begun_s + self._total_s

    def wait_s(self, attempt: int, failure: str, asked_s: float | None, left_s: float) -> float | None:
        """How long to wait before the next attempt; None where none follows.

        Args:
            attempt: Which one failed, from 1.
            failure: How.
            asked_s: The wait that the server asked for.
            left_s: What is left of the request's time.
        """
        if attempt > self._limit or not mendable(failure) or self._stopped.is_set():
            return None
        wait_s = asked_s
        if wait_s is None:
            longest_s = min(MOST_WAIT_S, FIRST_WAIT_S * 2.0 ** min(attempt - 1, 10))
            wait_s = longest_s * self._random.uniform(0.5, 1.0)
        return wait_s if wait_s < left_s else None

    async def pause(self, wait_s: float) -> bool:
        """Wait; tell whether the next attempt may begin then."""
        try:
            await asyncio.wait_for(self._stopped.wait(), wait_s)
        except TimeoutError:
            return True
        return False
