"""The server of the local pages."""

from __future__ import annotations

import asyncio
import os
import signal
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from aiohttp import web

from loadgen.driver.system.signals import run_async
from loadgen.plugins.viewing.access import HOST, Access
from loadgen.plugins.viewing.folder import ViewedFolder
from loadgen.plugins.viewing.pages import Pages
from loadgen.sessions.errors import SetupError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

_SHUTDOWN_S: Final = 0.5
"""How long answers may go on after the signal: streams of runs would go on as the runs do."""


def view(top: Path, port: int, listening: Callable[[str], None]) -> None:
    """Serve the pages of a folder until SIGINT or SIGTERM."""
    folder = ViewedFolder(top)
    run_async(lambda: _serve(folder, port, listening))


async def _serve(folder: ViewedFolder, port: int, listening: Callable[[str], None]) -> None:
    access, pages = Access(), Pages(folder)
    app = web.Application(middlewares=[access.middleware, pages.explain])
    app.add_routes(pages.routes())
    app.on_response_prepare.append(access.add_headers)
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=_SHUTDOWN_S)
    await runner.setup()
    ended = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, ended.set)
    try:
        site = web.TCPSite(runner, HOST, port)
        try:
            await site.start()
        except OSError as error:
            raise SetupError(
                f"cannot listen on {HOST}, port {port}: {os.strerror(error.errno or 0)}. "
                "Choose another --port; 0 takes a free one"
            ) from error
        taken = port or runner.addresses[0][1]
        listening(access.url(taken))
        await ended.wait()
    finally:
        with suppress(asyncio.CancelledError):
            await runner.cleanup()
