"""One client connection, with the time of the last read: the truest arrival time available here.

A handler starts after the request was parsed and its task had its turn, which on a busy server is late.
"""

from __future__ import annotations

import asyncio
import time
from functools import partial
from typing import TYPE_CHECKING, Any

from aiohttp import web

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable


class MockConnection(web.RequestHandler):
    """One client connection.

    Attributes:
        read_ns: When the last read returned, in ns of CLOCK_MONOTONIC.
    """

    __slots__ = ("read_ns",)

    def __init__(self, server: web.Server, **settings: Any) -> None:
        super().__init__(server, **settings)
        self.read_ns = time.monotonic_ns()

    def data_received(self, data: bytes) -> None:
        """Take the data read. aiohttp also calls this method without data, to parse buffered data."""
        if data:
            self.read_ns = time.monotonic_ns()
        super().data_received(data)


class LowLevelServer(web.Server):
    """aiohttp's low-level server with such connections; the event loop calls the server for each new one.

    A handler is cancelled when its client goes away. aiohttp disables Nagle's algorithm on every connection.

    Args:
        handler: Answers a request.
    """

    def __init__(self, handler: Callable[[web.BaseRequest], Awaitable[web.StreamResponse]]) -> None:
        loop = asyncio.get_running_loop()
        # Prompts can be longer than aiohttp's limit of 1 MiB: 0 takes it away.
        request = partial(web.BaseRequest, loop=loop, client_max_size=0)
        super().__init__(handler, request_factory=request, handler_cancellation=True)
        self._connection = partial(MockConnection, self, loop=loop, access_log=None)

    def __call__(self) -> MockConnection:
        """Make the protocol of a new connection."""
        return self._connection()
