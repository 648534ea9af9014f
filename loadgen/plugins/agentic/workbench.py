"""Making sessions and prompts without a delay of the turns that are due: in small steps, between other work.

A text of 50,000 words takes some milliseconds. Work that takes long is therefore a generator that yields
between steps of less than 0.1 ms, and the workbench of a worker process does some steps per turn of the event
loop, of the work that is due first.
"""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Generator
from heapq import heappop, heappush
from itertools import count
from typing import Any, Final, Generic, TypeVar

T = TypeVar("T")
Steps = Generator[None, None, T]
"""Work in steps, which returns the result."""

PIECE_NS: Final = 50_000
"""How long the event loop is kept at a time."""

_HEAD_START: Final = 3
"""How many turns of the event loop a session takes to its first request: a session that begins goes first."""

WHEN_IDLE: Final = sys.maxsize


def finished(steps: Steps[T]) -> T:
    """Do all steps now; return the result."""
    while True:
        try:
            next(steps)
        except StopIteration as end:
            result: T = end.value
            return result


class BenchJob(Generic[T]):
    """Work on a workbench.

    Args:
        steps: The work.
    """

    def __init__(self, steps: Steps[T]) -> None:
        self._steps = steps
        self._result: asyncio.Future[T] = asyncio.get_running_loop().create_future()

    @property
    def is_over(self) -> bool:
        """Whether no step is left, or the job was dropped."""
        return self._result.done()

    def step(self) -> None:
        """Do one step."""
        try:
            next(self._steps)
        except StopIteration as end:
            self._result.set_result(end.value)
        except Exception as error:  # noqa: BLE001 (it is raised where the result is awaited)
            self._result.set_exception(error)

    def finish(self) -> T:
        """Do the steps that are left now; return the result."""
        while not self._result.done():
            self.step()
        return self._result.result()

    def drop(self) -> None:
        """Do no further step."""
        self._result.cancel()

    async def result(self) -> T:
        """Wait for the result; a waiter that is cancelled does not end the job."""
        return await asyncio.shield(self._result)


class Workbench:
    """Does the jobs of a worker process one after the other: the one that is due first, first."""

    def __init__(self) -> None:
        self._queue: list[tuple[int, int, BenchJob[Any]]] = []
        self._order = count()
        self._working: asyncio.Task[None] | None = None

    @property
    def is_busy(self) -> bool:
        """Whether a job is left."""
        return self._working is not None

    def begin(self, steps: Steps[T], due_ns: int = WHEN_IDLE) -> BenchJob[T]:
        """Begin a job, and return at once.

        Args:
            steps: The work.
            due_ns: When the result is needed, ns of CLOCK_MONOTONIC.
        """
        job = BenchJob(steps)
        self.hurry(job, due_ns)
        return job

    def hurry(self, job: BenchJob[T], due_ns: int) -> None:
        """Do a job earlier than was said, if `due_ns` is earlier."""
        heappush(self._queue, (due_ns, next(self._order), job))
        if self._working is None:
            self._working = asyncio.create_task(self._work())

    async def result(self, job: BenchJob[T], due_ns: int) -> T:
        """Wait for the result of a job, which is needed at a moment."""
        if not job.is_over:
            self.hurry(job, due_ns)
        return await job.result()

    def close(self) -> None:
        """End without the jobs that are left."""
        if self._working is not None:
            self._working.cancel()

    async def _work(self) -> None:
        for _ in range(_HEAD_START):
            await asyncio.sleep(0)
        while self._queue:
            job = self._queue[0][-1]
            until_ns = time.monotonic_ns() + PIECE_NS
            while not job.is_over and time.monotonic_ns() < until_ns:
                job.step()
            if job.is_over:
                heappop(self._queue)
            await asyncio.sleep(0)
        self._working = None
