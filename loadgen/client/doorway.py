"""Letting a few go on at a time, so that reads come in between.

When many responses end together, what follows each of them (decoding its rest, logging it, issuing the next
request) takes much longer than a read. Done for all of them at once, it would leave the first tokens of
others unread for so long that the next ones join them; and of bytes that are read together the kernel keeps
one stamp.
"""

from __future__ import annotations

import asyncio
from collections import deque


class Doorway:
    """Lets so many through in each turn of the event loop; the others wait, in order.

    Args:
        at_once: How many.
    """

    def __init__(self, at_once: int) -> None:
        self._at_once = at_once
        self._room = at_once
        self._waiting: deque[asyncio.Future[None]] = deque()

    async def enter(self) -> None:
        """Return at once where there is room in this turn, else in a later one."""
        if self._room == self._at_once:
            asyncio.get_running_loop().call_soon(self._next_turn)
        if self._room:
            self._room -= 1
            return
        turn = asyncio.get_running_loop().create_future()
        self._waiting.append(turn)
        await turn

    def _next_turn(self) -> None:
        self._room = self._at_once
        while self._waiting and self._room:
            turn = self._waiting.popleft()
            if not turn.done():
                turn.set_result(None)
                self._room -= 1
        if self._room < self._at_once:
            asyncio.get_running_loop().call_soon(self._next_turn)
