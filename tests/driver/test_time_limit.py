"""A limit of time is kept, and what arrives while the client is held up is in time."""

from __future__ import annotations

import asyncio
import socket
import time
from typing import TYPE_CHECKING

import pytest

from loadgen.driver.client.dialing import Dialer
from loadgen.driver.client.endpoint import endpoint
from loadgen.driver.client.timeouts import TICKS, Deadlines, TimeLimit, Timeouts
from loadgen.driver.errors import RequestFailedError

if TYPE_CHECKING:
    import ssl
    from collections.abc import Callable

LIMIT_S = 0.2
SHORT_S = 0.02


def limit(seconds: float) -> TimeLimit:
    """A limit on the time of one block."""
    return TimeLimit(Deadlines(seconds / TICKS, TimeLimit.tick))


def test_the_limit_is_kept() -> None:
    """Not before its time."""

    async def wait() -> None:
        with limit(LIMIT_S):
            await asyncio.Event().wait()

    started = time.monotonic()
    with pytest.raises(TimeoutError):
        asyncio.run(wait())
    assert time.monotonic() - started >= LIMIT_S


def test_what_is_done_in_time_is_not_cancelled() -> None:
    """Neither in the block, nor behind it."""

    async def wait() -> str:
        with limit(LIMIT_S):
            await asyncio.sleep(0)
        await asyncio.sleep(2 * LIMIT_S)
        return "done"

    assert asyncio.run(wait()) == "done"


def test_what_came_while_the_loop_was_held_up_is_in_time() -> None:
    """Ten times the limit passed meanwhile."""

    async def wait() -> bytes:
        ours, theirs = socket.socketpair()
        with ours, theirs:
            ours.setblocking(False)  # noqa: FBT003 (the socket module's own signature)

            def hold_up() -> None:
                time.sleep(10 * SHORT_S)
                theirs.sendall(b"here")

            loop = asyncio.get_running_loop()
            loop.call_soon(hold_up)
            with limit(SHORT_S):
                return await loop.sock_recv(ours, 4)

    assert asyncio.run(wait()) == b"here"


def test_a_handshake_outlasts_what_holds_the_client_up(certified: Callable[[str], ssl.SSLContext]) -> None:
    """TLS takes further turns of the event loop when the time is over by the clock."""

    async def hold(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()
        writer.close()

    async def dial() -> float | None:
        server = await asyncio.start_server(hold, "127.0.0.1", 0, ssl=certified("127.0.0.1"))
        port = server.sockets[0].getsockname()[1]
        there = endpoint(f"https://127.0.0.1:{port}", {}, verify=False)
        async with server:
            asyncio.get_running_loop().call_soon(time.sleep, 2 * LIMIT_S)
            sock, _, setup = await Dialer(there, Timeouts(connect_timeout_s=LIMIT_S)).dial()
            sock.close()
        return setup.tls_ms

    assert asyncio.run(dial())


def test_a_server_that_says_nothing_is_given_up() -> None:
    """A port that takes connections, and never shakes hands."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        there = endpoint(f"https://127.0.0.1:{server.getsockname()[1]}", {})
        with pytest.raises(RequestFailedError, match=r"within 0\.2 s"):
            asyncio.run(Dialer(there, Timeouts(connect_timeout_s=LIMIT_S)).dial())
