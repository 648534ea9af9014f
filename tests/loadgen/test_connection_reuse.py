"""Keep-alive: which connections are used again, and what becomes of those that the server gave up."""

from __future__ import annotations

import asyncio
import socket
import threading
import time
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Self

    from loadgen.client.exchange import Exchange

IDLE_S = 0.05
"""Long enough for a close to arrive."""


@pytest.fixture(scope="module")
def several(run: Any, serve: Any, connect: Any, ask: Any) -> Callable[..., tuple[Any, list[Exchange]]]:
    """Send a request for each script, or each on a new connection: server and exchanges."""

    def several(*scripts: Any, closed: bool = False, pause_s: float = 0.0) -> tuple[Any, list[Exchange]]:
        async def scenario() -> tuple[Any, list[Exchange]]:
            exchanges = []
            async with serve(*scripts) as server, connect(server.url) as transport:
                for _ in scripts:
                    exchanges.append(await ask(transport))
                    if closed:
                        await server.hung_up.wait()
                        server.hung_up.clear()
                    await asyncio.sleep(pause_s)
            return server, exchanges

        return run(scenario())

    return several


def test_a_connection_is_used_again(several: Any, wire: Any) -> None:
    """Only the first request has to connect, and says how long that took."""
    server, exchanges = several(*[[wire.chunked(b"abc")]] * 3)
    assert server.connections == 1
    setups = [exchange.setup for exchange in exchanges]
    assert [setup.reused for setup in setups] == [False, True, True]
    assert setups[0].connect_ms > 0
    assert setups[0].dns_ms is not None
    assert [(setup.connect_ms, setup.tls_ms, setup.dns_ms) for setup in setups[1:]] == [
        (None, None, None)
    ] * 2
    assert all(exchange.stream.body() == b"abc" for exchange in exchanges)


@pytest.mark.parametrize("kind", ["close", "http 1.0", "until close", "more than was announced"])
def test_some_connections_are_not(several: Any, wire: Any, step: Any, kind: str) -> None:
    """The server says so, or cannot be trusted to know where its response ended."""
    first = {
        "close": [wire.sized(b"abc", connection="close")],
        "http 1.0": [wire.sized(b"abc").replace(b"HTTP/1.1", b"HTTP/1.0")],
        "until close": [wire.head() + b"abc", step.CLOSE],
        "more than was announced": [wire.sized(b"abc") + b"def"],
    }[kind]
    server, (one, two) = several(first, [wire.sized(b"abc")])
    assert (server.connections, two.setup.reused) == (2, False)
    assert (one.failure, two.failure) == (None, None)
    assert one.stream.body() == two.stream.body() == b"abc"


def test_a_failure_takes_only_its_own_connection_with_it(several: Any, wire: Any, step: Any) -> None:
    """The next request has a new one."""
    whole = [wire.sized(b"abc")]
    server, exchanges = several(whole, [wire.head(content_length=9) + b"abc", step.CLOSE], whole, whole)
    assert [exchange.failure for exchange in exchanges] == [None, "truncated", None, None]
    assert [exchange.setup.reused for exchange in exchanges] == [False, True, False, True]
    assert server.connections == 2


@pytest.mark.parametrize("pause_s", [0.01, IDLE_S])
@pytest.mark.parametrize("last_words", [b"", b"HTTP/1.1 408 Request Timeout\r\nContent-Length: 0\r\n\r\n"])
def test_the_server_closes_an_idle_connection(
    several: Any, wire: Any, step: Any, pause_s: float, last_words: bytes
) -> None:
    """Silently or with a word that nobody asked for: the next request goes another way."""
    closing = [wire.sized(b"abc"), 0.01, last_words, step.CLOSE]
    server, exchanges = several(closing, closing, closed=True, pause_s=pause_s)
    assert [exchange.failure for exchange in exchanges] == [None, None]
    assert server.connections == 2


def test_an_unasked_word_spoils_a_connection(several: Any, wire: Any) -> None:
    """It could be taken for the next answer."""
    script = [wire.sized(b"abc"), 0.01, wire.sized(b"def")]
    server, exchanges = several(script, script, closed=True)
    assert [exchange.stream.body() for exchange in exchanges] == [b"abc", b"abc"]
    assert server.connections == 2


class PlainServer:
    """Answers one request a connection, in a thread, and closes it when it is told to.

    Args:
        response: The bytes of every response.
    """

    def __init__(self, response: bytes) -> None:
        self._response = response
        self._close = threading.Event()
        self._closed = threading.Event()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._thread = threading.Thread(target=self._serve)
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._close.set()
        self._listener.shutdown(socket.SHUT_RDWR)
        self._thread.join()
        self._listener.close()

    def close_connection(self) -> None:
        """Close the connection; return when its end has been sent, without a turn of the event loop."""
        self._close.set()
        assert self._closed.wait(10)

    def _serve(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            with connection:
                while b"{}" not in connection.recv(65536):
                    pass
                connection.sendall(self._response)
                self._close.wait(10)
            self._closed.set()


def test_a_close_that_nobody_has_heard_yet(run: Any, connect: Any, ask: Any, wire: Any) -> None:
    """A client that was too busy to hear of it looks before it uses a connection that was idle for long."""

    async def scenario(server: PlainServer) -> list[Exchange]:
        async with connect(server.url) as transport:
            exchanges = [await ask(transport)]
            server.close_connection()
            time.sleep(IDLE_S)  # noqa: ASYNC251 (the loop is to be busy)
            exchanges.append(await ask(transport))
            return exchanges

    with PlainServer(wire.sized(b"abc")) as server:
        exchanges = run(scenario(server))
    assert [exchange.failure for exchange in exchanges] == [None, None]
    assert [exchange.setup.reused for exchange in exchanges] == [False, False]


def test_a_close_that_is_just_being_heard(run: Any, connect: Any, ask: Any, wire: Any) -> None:
    """Between the end of the stream and the end of the connection lies a turn of the event loop."""

    async def later(transport: Any) -> Exchange:
        await asyncio.sleep(0)
        return await ask(transport)

    async def scenario(server: PlainServer) -> list[Exchange]:
        async with connect(server.url) as transport:
            exchanges = [await ask(transport)]
            server.close_connection()
            exchanges.append(await asyncio.create_task(later(transport)))
            return exchanges

    with PlainServer(wire.sized(b"abc")) as server:
        exchanges = run(scenario(server))
    assert [exchange.failure for exchange in exchanges] == [None, None]


def test_requests_at_once_have_a_connection_each(
    run: Any, serve: Any, connect: Any, ask: Any, wire: Any
) -> None:
    """And the connections are there for the next ones."""

    async def scenario() -> tuple[Any, list[Exchange]]:
        async with serve([0.02, wire.sized(b"abc")]) as server, connect(server.url) as transport:
            first = await asyncio.gather(*(ask(transport) for _ in range(20)))
            second = await asyncio.gather(*(ask(transport) for _ in range(20)))
            return server, [*first, *second]

    server, exchanges = run(scenario())
    assert server.connections == 20
    assert [exchange.setup.reused for exchange in exchanges] == [False] * 20 + [True] * 20
    assert {(exchange.failure, exchange.stream.body()) for exchange in exchanges} == {(None, b"abc")}


def test_closing_closes_idle_connections(run: Any, serve: Any, connect: Any, ask: Any, wire: Any) -> None:
    """The server hears of it."""

    async def scenario() -> None:
        async with serve([wire.sized(b"abc")]) as server:
            async with connect(server.url) as transport:
                await ask(transport)
                assert not server.hung_up.is_set()
            await server.hung_up.wait()

    run(scenario())
