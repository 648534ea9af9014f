"""Kept connections that the server closes or writes to: before a request, on its way, with it in hand."""

from __future__ import annotations

import asyncio
import socket
import threading
import time
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import pytest

from loadgen.driver.client import chat_completions, head
from loadgen.driver.client.arrival import StampingSocket, timestamp_source
from loadgen.driver.client.endpoint import Request
from loadgen.driver.client.exchange import Exchange
from loadgen.driver.client.failure import Failure
from loadgen.driver.client.stream import ResponseStream

if TYPE_CHECKING:
    import ssl
    from collections.abc import Callable, Iterator
    from typing import Self

UNASKED = Failure.UNASKED_RESPONSE
IDLE_S = 0.05
"""Long enough for a close to arrive."""


class PlainServer:
    """Answers one request a connection, in a thread, and closes it when the test says so.

    Args:
        responses: The bytes of the response of each connection; of none for the connections after them.
        tls: With it the server speaks TLS, and says no farewell.
        crash_message: Said when the connection is to be closed; then it stays open, and is not read.
        deaf: Close once the next request has arrived, without reading it.

    Attributes:
        read: How many requests it has read.
    """

    def __init__(
        self,
        *responses: bytes,
        tls: ssl.SSLContext | None = None,
        crash_message: bytes = b"",
        deaf: bool = False,
    ) -> None:
        self.read = 0
        self._last_words = crash_message
        self._connections = ExitStack()
        self._responses = responses
        self._tls = tls
        self._deaf = deaf
        self._close = threading.Event()
        self._closed = threading.Event()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._thread = threading.Thread(target=self._serve)
        self.url = f"{'https' if tls else 'http'}://127.0.0.1:{self._listener.getsockname()[1]}"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._close.set()
        self._listener.shutdown(socket.SHUT_RDWR)
        self._thread.join()
        self._connections.close()
        self._listener.close()

    def close_connection(self) -> None:
        """Close the connection; return when its end has been sent, without a turn of the event loop."""
        self._close.set()
        assert self._closed.wait(60)

    def _serve(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            if self._tls is not None:
                connection = self._tls.wrap_socket(connection, server_side=True)
            self._connections.enter_context(connection)
            while b"{}" not in connection.recv(65536):
                pass
            self.read += 1
            connection.sendall(b"".join(self._responses[self.read - 1 : self.read]))
            if self._deaf:
                connection.recv(1, socket.MSG_PEEK)
            else:
                self._close.wait(60)
            if self._last_words:
                connection.sendall(self._last_words)
            else:
                connection.close()
            self._closed.set()


@pytest.fixture
def credulous(monkeypatch: pytest.MonkeyPatch, transport_kind: Any) -> None:
    """Connections pass for good: as when the server closes them right after the look at them."""
    for connection_type in transport_kind.connection_types:
        monkeypatch.setattr(connection_type, "is_stale", lambda _: False)


@pytest.fixture
def stamped() -> Iterator[None]:
    """Arrivals are stamped by the kernel from the first one on: it goes on doing so while anybody asks."""
    with StampingSocket() as asks:
        asks.stamp_arrivals()
        if timestamp_source() != "kernel":
            pytest.skip("only kernel stamps (SO_TIMESTAMPING, Linux) can order the response and the request")
        yield


@pytest.fixture(scope="module")
def after_a_close(run: Any, connect: Any) -> Callable[..., list[tuple[Exchange, list[Any]]]]:
    """Two requests, and a close between them that the event loop has had no turn to hear of.

    The exchanges, and what each said whenever it was sent: its `setup` and the time.
    """

    async def send(transport: Any) -> tuple[Exchange, list[Any]]:
        sent: list[Any] = []
        exchange = Exchange(
            ResponseStream(chat_completions),
            lambda exchange: sent.append((exchange.setup, exchange.sent_ns)),
            lambda _: None,
        )
        await transport.send(Request("POST", "/chat/completions", "an-id", b"{}"), exchange)
        return exchange, sent

    def after_a_close(server: PlainServer, idle_s: float = IDLE_S) -> list[tuple[Exchange, list[Any]]]:
        async def scenario() -> list[tuple[Exchange, list[Any]]]:
            async with connect(server.url, verify=False) as transport:
                first = await send(transport)
                server.close_connection()
                time.sleep(idle_s)  # noqa: ASYNC251 (the loop is to be busy)
                return [first, await send(transport)]

        with server:
            return run(scenario())

    return after_a_close


# Before the request…


def test_a_close_that_was_not_read_yet(after_a_close: Any, wire: Any) -> None:
    """A client that was too busy to hear of it looks before it uses a connection that was idle for long."""
    (first, _), (second, sent) = after_a_close(PlainServer(*[wire.sized(b"abc")] * 2))
    assert (first.failure, second.failure) == (None, None)
    assert [setup.reused for setup, _ in sent] == [False]
    assert second.setup.retried is False


@pytest.mark.parametrize("idle_s", [0.0, IDLE_S])
@pytest.mark.parametrize("scheme", ["http", "https"])
def test_bytes_that_were_not_read_yet(
    after_a_close: Any, wire: Any, certified: Any, scheme: str, idle_s: float
) -> None:
    """It spoils the connection as if it had been heard, however soon it comes; the server need not agree."""
    tls = certified("127.0.0.1") if scheme == "https" else None
    server = PlainServer(*[wire.sized(b"abc")] * 2, tls=tls, crash_message=wire.sized(b"def"))
    _, (second, _) = after_a_close(server, idle_s)
    assert (second.failure, second.stream.body(), second.setup.reused) == (None, b"abc", False)


@pytest.mark.usefixtures("credulous", "stamped")
@pytest.mark.parametrize("status", [200, 503])
@pytest.mark.parametrize("scheme", ["http", "https"])
def test_a_response_before_the_request_is_not_its_answer(
    after_a_close: Any, wire: Any, certified: Any, scheme: str, status: int
) -> None:
    """It arrived between the look at the connection and the first byte of the request."""
    tls = certified("127.0.0.1") if scheme == "https" else None
    server = PlainServer(wire.sized(b"abc"), tls=tls, crash_message=wire.sized(b"def", status))
    _, (second, sent) = after_a_close(server)
    assert (second.failure, second.setup.reused, second.first_byte_ns) == (UNASKED, True, None)
    assert second.stream.body() == b""
    assert f"status {status} arrived " in second.message
    assert second.ended_ns >= sent[0][1]


@pytest.mark.usefixtures("credulous", "stamped")
def test_a_408_before_the_request_closes_the_connection(after_a_close: Any, wire: Any) -> None:
    """The server says that it has no request: that is sent again."""
    server = PlainServer(*[wire.sized(b"abc")] * 2, crash_message=wire.sized(b"", 408))
    _, (second, sent) = after_a_close(server)
    assert (second.failure, second.stream.body()) == (None, b"abc")
    assert [(setup.reused, setup.retried, setup.unasked) for setup, _ in sent] == [
        (True, False, 0),
        (False, True, 0),
    ]


@pytest.mark.usefixtures("credulous", "stamped")
@pytest.mark.parametrize("status", [200, 503])
def test_what_a_server_says_to_a_new_connection(
    run: Any, connect: Any, ask: Any, wire: Any, transport_kind: Any, status: int
) -> None:
    """A refusal is for the first request, for there is no other; a success before the request is not one."""
    if not transport_kind.opens_ahead:
        return

    async def scenario(listener: socket.socket) -> Exchange:
        loop = asyncio.get_running_loop()
        async with connect(f"http://127.0.0.1:{listener.getsockname()[1]}") as transport:
            opening = asyncio.create_task(transport.open_ahead(1))
            connection, _ = await loop.sock_accept(listener)
            with connection:
                await opening
                connection.send(wire.sized(b"too much", status))
                return await ask(transport)

    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(0)
        exchange = run(scenario(listener))
    if status == 200:
        assert (exchange.failure, exchange.stream.body()) == (UNASKED, b"")
    else:
        assert (exchange.failure, exchange.response.status) == (None, status)
        assert exchange.first_byte_ns >= exchange.sent_ns


@pytest.mark.usefixtures("credulous")
def test_a_clock_that_was_set_back_fails_no_request(
    after_a_close: Any, wire: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The stamp of a response may be too early by as much."""
    monkeypatch.setattr(head, "clock_set_back_ns", lambda: round(2e9 * IDLE_S + 1e9))
    server = PlainServer(wire.sized(b"abc"), crash_message=wire.sized(b"def"))
    _, (second, _) = after_a_close(server)
    assert (second.failure, second.stream.body()) == (None, b"def")


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

    with PlainServer(*[wire.sized(b"abc")] * 2) as server:
        exchanges = run(scenario(server))
    assert [exchange.failure for exchange in exchanges] == [None, None]


# On its way…


@pytest.mark.usefixtures("credulous")
@pytest.mark.parametrize("scheme", ["http", "https"])
def test_a_close_that_the_request_meets_on_its_way(
    after_a_close: Any, wire: Any, certified: Any, scheme: str
) -> None:
    """Nothing of it reached the server: it goes out once more and says so."""
    tls = certified("127.0.0.1") if scheme == "https" else None
    server = PlainServer(*[wire.sized(b"abc")] * 2, tls=tls)
    _, (exchange, sent) = after_a_close(server)
    assert (exchange.failure, exchange.stream.body()) == (None, b"abc"), exchange.message
    assert [(setup.reused, setup.retried) for setup, _ in sent] == [(True, False), (False, True)]
    assert exchange.setup.connect_ms > 0
    assert exchange.sent_ns == sent[1][1] > sent[0][1]
    assert server.read == 2


@pytest.mark.usefixtures("credulous")
def test_it_goes_out_once_more_and_no_oftener(after_a_close: Any, wire: Any) -> None:
    """What comes of the second time is the outcome of it."""
    server = PlainServer(wire.sized(b"abc"))
    _, (exchange, _) = after_a_close(server)
    assert exchange.failure == Failure.RESET
    assert (exchange.setup.retried, server.read) == (True, 2)


# With the request in hand…


@pytest.mark.parametrize("end", ["CLOSE", "RESET"])
@pytest.mark.parametrize("method", ["POST", "GET"])
def test_a_close_right_after_the_request_was_read(
    run: Any, serve: Any, connect: Any, ask: Any, wire: Any, step: Any, end: str, method: str
) -> None:
    """The close may have been on its way before the request: it goes out once more."""

    async def scenario() -> tuple[Any, Exchange]:
        scripts = [wire.sized(b"abc")], [getattr(step, end)], [wire.sized(b"abc")]
        async with serve(*scripts) as server, connect(server.url) as transport:
            await ask(transport)
            return server, await ask(transport, b"" if method == "GET" else b"{}", method)

    server, exchange = run(scenario())
    assert (exchange.failure, exchange.stream.body()) == (None, b"abc"), exchange.message
    assert (exchange.setup.reused, exchange.setup.retried) == (False, True)
    assert (server.connections, len(server.requests)) == (2, 3)


def test_a_request_that_was_acknowledged_is_sent_again(run: Any, connect: Any, ask: Any, wire: Any) -> None:
    """The server's kernel had it, and the server closed without reading it."""

    async def scenario(server: PlainServer) -> Exchange:
        async with connect(server.url) as transport:
            await ask(transport)
            return await ask(transport)

    with PlainServer(*[wire.sized(b"abc")] * 2, deaf=True) as server:
        exchange = run(scenario(server))
    assert (exchange.failure, exchange.setup.retried, server.read) == (None, True, 2)


@pytest.mark.parametrize("end", ["CLOSE", "RESET"])
def test_a_request_that_the_server_gave_up_is_not_sent_again(
    run: Any,
    serve: Any,
    connect: Any,
    ask: Any,
    wire: Any,
    step: Any,
    end: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The server had it for long: its failure must not look like a quick success."""
    monkeypatch.setattr(head, "CROSSING_NS", 20_000_000)

    async def scenario() -> tuple[Any, Exchange]:
        scripts = [wire.sized(b"abc")], [0.03, getattr(step, end)], [wire.sized(b"abc")]
        async with serve(*scripts) as server, connect(server.url) as transport:
            await ask(transport)
            return server, await ask(transport)

    server, exchange = run(scenario())
    assert (exchange.failure, exchange.setup.reused, exchange.setup.retried) == (Failure.RESET, True, False)
    assert (server.connections, len(server.requests)) == (1, 2)


@pytest.mark.parametrize("end", ["CLOSE", "RESET"])
def test_a_new_connection_that_ends_is_a_failure(
    run: Any, serve: Any, connect: Any, ask: Any, wire: Any, step: Any, end: str
) -> None:
    """No earlier response can have closed it."""

    async def scenario() -> tuple[Any, Exchange]:
        async with (
            serve([getattr(step, end)], [wire.sized(b"abc")]) as server,
            connect(server.url) as transport,
        ):
            return server, await ask(transport)

    server, exchange = run(scenario())
    assert (exchange.failure, exchange.setup.retried) == (Failure.RESET, False)
    assert len(server.requests) == 1


def test_other_connections_outlive_a_retry(
    run: Any, serve: Any, connect: Any, ask: Any, wire: Any, step: Any
) -> None:
    """The retry opens a connection; the kept ones stay for other requests."""

    async def scenario() -> tuple[Any, list[Exchange]]:
        whole = [0.02, wire.sized(b"abc")]
        scripts = whole, whole, whole, [step.CLOSE], whole
        async with serve(*scripts) as server, connect(server.url) as transport:
            await asyncio.gather(*(ask(transport) for _ in range(3)))
            exchanges = [await ask(transport)]
            exchanges += await asyncio.gather(*(ask(transport) for _ in range(3)))
            return server, exchanges

    server, exchanges = run(scenario())
    assert [exchange.failure for exchange in exchanges] == [None] * 4
    assert exchanges[0].setup.retried
    assert [exchange.setup.reused for exchange in exchanges] == [False, True, True, True]
    assert server.connections == 4
