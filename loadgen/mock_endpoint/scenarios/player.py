"""Playing a script on a connection, and noting when."""

from __future__ import annotations

import asyncio
import socket
import struct
import time
from typing import TYPE_CHECKING, Final

from loadgen.mock_endpoint.scenarios.dialect import count
from loadgen.mock_endpoint.scenarios.steps import Close, Flood, Reset, Send, StallStep

if TYPE_CHECKING:
    from loadgen.driver.client.arrival import StampingSocket
    from loadgen.mock_endpoint.scenarios.request import RequestReader
    from loadgen.mock_endpoint.scenarios.steps import ScenarioScript, Step
    from loadgen.mock_endpoint.truth import PlayedTruth

_MS: Final = 1_000_000
_AT_ONCE: Final = struct.pack("ii", 1, 0)
"""`struct linger`: closing sends a RST."""


class Player:
    """Plays scripts on one connection."""

    def __init__(self, sock: StampingSocket, reader: RequestReader) -> None:
        self._sock = sock
        self._reader = reader

    async def play(self, script: ScenarioScript, truth: PlayedTruth) -> bool:
        """Play a script, and record the truth.

        Returns:
            Whether another request may follow on the connection.

        Raises:
            OSError: The client is gone.
        """
        for step in script.steps:
            if not await self._do(step, script, truth):
                return False
        return True

    async def _do(self, step: Step, script: ScenarioScript, truth: PlayedTruth) -> bool:
        if not isinstance(step, StallStep):
            await _until(truth.received_ns + round(step.at_ms * _MS))
        match step:
            case Send():
                await self._send(step, truth, stamped=script.streamed)
            case Flood():
                await self._flood(step)
            case StallStep():
                await self._reader.hung_up()
            case Reset():
                self._sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _AT_ONCE)
            case Close():
                pass
        return isinstance(step, Send)

    async def _send(self, step: Send, truth: PlayedTruth, *, stamped: bool) -> None:
        now_ns = time.monotonic_ns()
        if step.contents:
            truth.tokens += count(step.contents)
            late_ns = now_ns - truth.received_ns - round(step.at_ms * _MS)
            truth.late_ns = max(truth.late_ns, late_ns)
        if stamped:
            truth.chunk_ns += [now_ns for content in step.contents if content.tokens and not content.choice]
        await asyncio.get_running_loop().sock_sendall(self._sock, step.data)
        if not step.after:
            truth.done_ns = time.monotonic_ns()

    async def _flood(self, step: Flood) -> None:
        loop = asyncio.get_running_loop()
        while True:
            await loop.sock_sendall(self._sock, step.data)
            await asyncio.sleep(step.every_ms / 1e3)


async def _until(at_ns: int) -> None:
    """Return at a moment or right after; at once for a past moment."""
    while (left_ns := at_ns - time.monotonic_ns()) > 0:  # noqa: ASYNC110 (it is the moment that is awaited)
        # The event loop sleeps for whole milliseconds.
        await asyncio.sleep(left_ns / 1e9 if left_ns >= _MS else 0)
