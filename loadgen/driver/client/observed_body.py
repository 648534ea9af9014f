"""The body of a request that goes through aiohttp: it says when the last of it is written."""

from __future__ import annotations

from typing import TYPE_CHECKING

import aiohttp

if TYPE_CHECKING:
    from aiohttp.abc import AbstractStreamWriter

    from loadgen.driver.client.observed_socket import Passage


class ObservedBody(aiohttp.Payload):
    """A request's body, which is written in one piece and says when."""

    def __init__(self, body: bytes, passage: Passage) -> None:
        super().__init__(body, content_type="application/json")
        self._passage = passage

    @property
    def size(self) -> int:
        """Its length in bytes."""
        return len(self._value)

    def decode(self, encoding: str = "utf-8", errors: str = "strict") -> str:
        """The body as a text."""
        return str(self._value, encoding, errors)

    async def write(self, writer: AbstractStreamWriter) -> None:
        """Write it; the head goes before it, in the same piece or in another."""
        self._passage.last = True
        await writer.write(self._value)
