"""Playing a script on a connection, and noting when."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, Final

from loadgen.mock_endpoint.scenarios.dialect import count
from loadgen.mock_endpoint.scenarios.steps import Close, Flood, Reset, Send, StallStep

if TYPE_CHECKING:
    from loadgen.mock_endpoint.scenarios.played_socket import PlayedSocket
    from loadgen.mock_endpoint.scenarios.request import RequestReader
    from loadgen.mock_endpoint.scenarios.steps import ScenarioScript, Step
    from loadgen.mock_endpoint.truth import PlayedTruth

_MS: Final = 1_000_000


class Player:
    """Plays scripts on one connection."""

    def __init__(self, client: PlayedSocket, reader: RequestReader) -> None:
        self._client = client
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
                await self._client.reset_at_close()
            case Close():
                await self._client.end()
        return isinstance(step, Send)

    async def _send(self, step: Send, truth: PlayedTruth, *, stamped: bool) -> None:
        now_ns = time.monotonic_ns()
        if step.contents:
            truth.tokens += count(step.contents)
            late_ns = now_ns - truth.received_ns - round(step.at_ms * _MS)
            truth.late_ns = max(truth.late_ns, late_ns)
        if stamped:
            truth.chunk_ns += [now_ns for content in step.contents if content.tokens and not content.choice]
        await self._client.send(step.data)
        if not step.after:
            truth.done_ns = time.monotonic_ns()

    async def _flood(self, step: Flood) -> None:
        while True:
            await self._client.send(step.data)
            await asyncio.sleep(step.every_ms / 1e3)


async def _until(at_ns: int) -> None:
    """Return at a moment or right after; at once for a past moment."""
    while (left_ns := at_ns - time.monotonic_ns()) > 0:  # noqa: ASYNC110 (it is the moment that is awaited)
        # The event loop sleeps for whole milliseconds.
        await asyncio.sleep(left_ns / 1e9 if left_ns >= _MS else 0)
