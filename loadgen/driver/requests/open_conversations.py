"""Conversations that have turns left to ask: issuing is not over before there are none."""

from __future__ import annotations

import asyncio


class OpenConversations:
    """The number of conversations between the first and the last turn."""

    def __init__(self) -> None:
        self._count = 0
        self._none = asyncio.Event()
        self._none.set()

    def begin(self) -> None:
        """Count one more."""
        self._count += 1
        self._none.clear()

    def end(self) -> None:
        """Count one less."""
        self._count -= 1
        if not self._count:
            self._none.set()

    async def none(self) -> None:
        """Return when there are none."""
        await self._none.wait()
