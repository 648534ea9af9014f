"""The queue: at most so many requests are served at once, the others wait in the order of their arrival."""

from __future__ import annotations

import time
from collections import deque
from typing import TYPE_CHECKING

from loadgen.mock_endpoint.fast.connection import PARKED

if TYPE_CHECKING:
    from collections.abc import Generator

    from loadgen.mock_endpoint.fast.connection import Connection


class Slots:
    """The places at which requests are served.

    Args:
        number: How many there are.
    """

    def __init__(self, number: int) -> None:
        self._free = number
        self._waiting: deque[Connection] = deque()

    def take(self, connection: Connection, since_ns: int) -> Generator[int, None, int]:
        """Wait for a slot, for the request that a connection is at; `give_back` it in the end.

        Args:
            connection: The client's connection, which is woken when it is its turn.
            since_ns: When the request arrived, in ns of CLOCK_MONOTONIC.

        Returns:
            How long it waited, in ns; exactly 0 when a slot was free.
        """
        if self._free:
            self._free -= 1
            return 0
        self._waiting.append(connection)
        try:
            yield PARKED
        except GeneratorExit:
            self._leave(connection)
            raise
        return time.monotonic_ns() - since_ns

    def give_back(self) -> None:
        """Pass a slot on to who has waited longest."""
        if self._waiting:
            self._waiting.popleft().wake()
        else:
            self._free += 1

    def _leave(self, connection: Connection) -> None:
        if connection in self._waiting:
            self._waiting.remove(connection)
        else:
            # Its turn had come, and it left before it knew.
            self.give_back()
