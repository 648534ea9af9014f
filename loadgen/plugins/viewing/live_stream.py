"""Runs in progress as server-sent events: a reader per run, however many pages show the run."""

from __future__ import annotations

import asyncio
import time
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Final

import orjson
from aiohttp import web

from loadgen.plugins.viewing.live_figures import LiveRun
from loadgen.sessions.error_exit_codes import message_of
from loadgen.sessions.errors import printable
from recorder.lock import is_held

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable
    from pathlib import Path

PAUSE_S: Final = 1.0
"""The least time between two readings."""
CPU_SHARE: Final = 0.05
"""The most of one core that the readings of a run take, once they have read what was there."""
PATIENCE_S: Final = 30.0
"""How long a page may leave an event unread."""


class _Followed:
    """A run that pages show: the last event, with a number that grows."""

    def __init__(self) -> None:
        self.pages = 0
        self.task: asyncio.Task[None] | None = None
        self._number = 0
        self._event = b""
        self._is_over = False
        self._news = asyncio.Condition()

    async def publish(self, name: str, data: bytes = b"") -> None:
        """Replace the last event; all but `figures` end the stream."""
        async with self._news:
            self._event = b"event: %b\ndata: %b\n\n" % (name.encode(), data)
            self._number, self._is_over = self._number + 1, name != "figures"
            self._news.notify_all()

    async def events(self) -> AsyncIterator[bytes]:
        """The events from now on; a slow page misses events."""
        seen, is_over = 0, False
        while not is_over:
            async with self._news:
                while self._number == seen:
                    await self._news.wait()
                seen, is_over, event = self._number, self._is_over, self._event
            yield event


class LiveRuns:
    """The runs in progress that pages show.

    Args:
        written: Reads a run and writes the data of an event, without a line break.
    """

    def __init__(self, written: Callable[[LiveRun], bytes]) -> None:
        self._written = written
        self._followed: dict[Path, _Followed] = {}
        self._thread = ThreadPoolExecutor(1, "live-runs")

    async def stream(self, request: web.Request, run: Path) -> web.StreamResponse:
        """Answer with events until the run ends or the page leaves."""
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        followed = self._followed.setdefault(run, _Followed())
        followed.pages += 1
        followed.task = followed.task or asyncio.create_task(self._follow(run, followed))
        try:
            async for event in followed.events():
                await asyncio.wait_for(response.write(event), PATIENCE_S)
        except (TimeoutError, ConnectionResetError):
            if request.transport is not None:
                request.transport.abort()
        finally:
            followed.pages -= 1
            if not followed.pages:
                followed.task.cancel()
                self._followed.pop(run, None)
        return response

    async def _follow(self, run: Path, followed: _Followed) -> None:
        """Publish readings until the run has ended, or cannot be read."""
        loop = asyncio.get_running_loop()
        live: LiveRun | None = None
        try:
            while is_held(run):
                if live is None:
                    live = await loop.run_in_executor(self._thread, LiveRun, run)
                data, cpu_s = await loop.run_in_executor(self._thread, self._read, live)
                await followed.publish("figures", data)
                await asyncio.sleep(0.0 if live.is_behind else max(PAUSE_S, cpu_s / CPU_SHARE))
            await followed.publish("ended")
        except Exception as error:  # noqa: BLE001 (whatever it is, the page says it)
            await followed.publish("failed", orjson.dumps(printable(message_of(error))))
        finally:
            if live is not None:
                self._thread.submit(live.close)

    def _read(self, live: LiveRun) -> tuple[bytes, float]:
        """The data of an event, and the CPU time of the reading in s."""
        started_s = time.thread_time()
        data = self._written(live)
        return data, time.thread_time() - started_s
