"""The queue: a limited number of requests is served at once, the rest wait in order of arrival."""

from __future__ import annotations

import time
from collections import deque
from typing import TYPE_CHECKING

from loadgen.mock_endpoint.client_connection import PARKED

if TYPE_CHECKING:
    from loadgen.mock_endpoint.client_connection import MockConnection, Task
    from loadgen.mock_endpoint.truth import Truth


class Slots:
    """The places at which requests are served.

    Args:
        number: How many there are.
    """

    def __init__(self, number: int) -> None:
        self._free = number
        self._waiting: deque[MockConnection] = deque()

    @property
    def waiting(self) -> int:
        """How many requests wait."""
        return len(self._waiting)

    def served(self, connection: MockConnection, truth: Truth, task: Task) -> Task:
        """Run a task in a free slot.

        Args:
            connection: Where its request came from, which is woken when it is its turn.
            truth: Learns how long it waited; exactly 0 when a slot was free.
            task: It, not begun yet.
        """
        if self._free:
            self._free -= 1
        else:
            self._waiting.append(connection)
            try:
                yield PARKED, b""
            except GeneratorExit:
                self._leave(connection)
                raise
            truth.queued_ns = time.monotonic_ns() - truth.received_ns
        try:
            yield from task
        finally:
            self._give_back()

    def _give_back(self) -> None:
        """Pass a slot on to the longest waiting request."""
        if self._waiting:
            self._waiting.popleft().wake()
        else:
            self._free += 1

    def _leave(self, connection: MockConnection) -> None:
        if connection in self._waiting:
            self._waiting.remove(connection)
        else:
            # Its turn had come, and it left before it knew.
            self._give_back()
