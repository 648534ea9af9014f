"""How transports take what comes too slowly, and connections of which one direction ends before the other."""

from __future__ import annotations

import asyncio
import socket
import threading
import time
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any

import pytest

from loadgen.driver.client.arrival import StampingSocket
from loadgen.driver.client.failure import Failure

if TYPE_CHECKING:
    import ssl
    from collections.abc import Callable, Iterator

    from loadgen.driver.client.exchange import Exchange

SHORT_S = 0.1
LITTLE = 4096
"""Room in a socket's buffer, in bytes, for less than a request."""


@pytest.fixture(scope="module")
def several(run: Any, serve: Any, connect: Any, ask: Any) -> Callable[..., tuple[Any, list[Exchange]]]:
    """Send a request for each script, each after the connection of the one before has ended."""

    def several(*scripts: Any, closed: bool = True, **options: Any) -> tuple[Any, list[Exchange]]:
        async def scenario() -> tuple[Any, list[Exchange]]:
            exchanges = []
            async with serve(*scripts) as server, connect(server.url, **options) as transport:
                for _ in scripts:
                    exchanges.append(await ask(transport))
                    if closed:
                        await server.hung_up.wait()
                        server.hung_up.clear()
            return server, exchanges

        return run(scenario())

    return several


# Half a close…


def test_a_server_that_sends_no_more_after_its_response(several: Any, wire: Any, step: Any) -> None:
    """It waits for the client to close, and the next request has a new connection."""
    server, exchanges = several(*[[wire.sized(b"abc"), step.HALF_CLOSE]] * 2)
    assert [exchange.failure for exchange in exchanges] == [None, None]
    assert [exchange.setup.reused for exchange in exchanges] == [False, False]
    assert server.connections == 2


def test_half_a_close_ends_a_response_without_a_length(several: Any, wire: Any, step: Any) -> None:
    """There is nothing else that could."""
    _, (exchange,) = several([wire.head() + b"abc", step.HALF_CLOSE])
    assert (exchange.failure, exchange.framed, exchange.stream.body()) == (None, False, b"abc")


@pytest.mark.parametrize(
    ("start", "failure"),
    [
        (b"", Failure.RESET),
        (b"HTTP/1.1 20", Failure.TRUNCATED),
        (b"HTTP/1.1 103 Early Hints\r\n\r\n", Failure.TRUNCATED),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc", Failure.TRUNCATED),
    ],
)
def test_half_a_close_is_a_cut_too(several: Any, step: Any, start: bytes, failure: str) -> None:
    """No more will come, although the server still listens."""
    _, (exchange,) = several([start, 0.01, step.HALF_CLOSE])
    assert exchange.failure == failure


def test_what_came_before_a_broken_chunk_counts(several: Any, wire: Any) -> None:
    """Also where it came in the same segment."""
    body = wire.chunk(b"abc") + wire.chunk(b"def") + b"zz\r\n"
    _, (exchange,) = several([wire.head(transfer_encoding="chunked"), 0.02, body])
    assert (exchange.failure, exchange.stream.body()) == (Failure.MALFORMED_FRAME, b"abcdef")


# Slowness…


def test_a_response_begins_with_its_first_byte(several: Any, wire: Any, step: Any) -> None:
    """Not when its head is complete."""
    response = wire.sized(b"abc")
    _, (exchange,) = several([response[:9], step.READ, 0.05, response[9:]], closed=False)
    assert exchange.stream.body() == b"abc"
    assert exchange.ended_ns - exchange.first_byte_ns >= 50e6 * 0.9


@pytest.mark.parametrize("kind", ["head", "heads", "body", "chunks"])
def test_the_deadline_counts_while_bytes_drip(several: Any, wire: Any, kind: str) -> None:
    """However many still come: each alone is in time, all together are not."""
    start, drop = {
        "head": (b"HTTP/1.1 200 OK\r\n", b"X: y\r\n"),
        "heads": (b"", b"HTTP/1.1 102 Processing\r\n\r\n"),
        "body": (wire.head(content_length=10**6), b"x"),
        "chunks": (wire.head(transfer_encoding="chunked"), wire.chunk(b": \n")),
    }[kind]
    asked_ns = time.monotonic_ns()
    _, (exchange,) = several([start, *[drop, 0.01] * 1000], timeout_s=SHORT_S)
    assert (exchange.failure, exchange.framed) == (Failure.TOTAL_TIMEOUT, False)
    assert exchange.ended_ns - asked_ns >= SHORT_S * 1e9


def test_a_framing_that_breaks_in_the_middle(several: Any, wire: Any, step: Any) -> None:
    """It is named at once, although everything until then was right."""
    start = wire.head(transfer_encoding="chunked") + wire.chunk(b": abc\n")
    _, (exchange,) = several([start, 0.02, b"zz\r\n", step.HANG])
    assert (exchange.failure, exchange.stream.body()) == (Failure.MALFORMED_FRAME, b": abc\n")
    assert "chunk size" in exchange.message


@pytest.fixture
def mute() -> Any:
    """A URL where connections are accepted and no TLS handshake follows."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield f"https://127.0.0.1:{listener.getsockname()[1]}"


def test_a_handshake_that_is_not_answered(run: Any, connect: Any, ask: Any, mute: str) -> None:
    """Connecting has its own time."""

    async def scenario() -> Exchange:
        async with connect(mute, connect_timeout_s=SHORT_S) as transport:
            return await ask(transport)

    exchange = run(scenario())
    assert (exchange.failure, exchange.sent_ns, exchange.setup) == (Failure.CONNECT_TIMEOUT, None, None)
    assert "within 0.1 s (--connect-timeout)" in exchange.message


def test_the_deadline_counts_while_connecting(run: Any, connect: Any, ask: Any, mute: str) -> None:
    """It is the caller's, and comes first."""

    async def scenario() -> Exchange:
        async with connect(mute, timeout_s=SHORT_S) as transport:
            return await ask(transport)

    exchange = run(scenario())
    assert (exchange.failure, exchange.sent_ns) == (Failure.TOTAL_TIMEOUT, None)


# No farewell…


@contextmanager
def deaf(
    tls: ssl.SSLContext | None = None,
    says: bytes = b"",
    met: threading.Event | None = None,
    *,
    half_closes: bool = False,
) -> Iterator[str]:
    """A URL where nothing is read but a handshake, once both have met; only half a good-bye is ever said."""
    connections = ExitStack()

    def serve() -> None:
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            try:
                if met is not None:
                    met.wait(60)
                if tls is not None:
                    connection = tls.wrap_socket(connection, server_side=True)
                connections.enter_context(connection).sendall(says)
                if half_closes:
                    connection.shutdown(socket.SHUT_WR)
            except OSError:
                # The client gave up.
                connection.close()

    with socket.create_server(("127.0.0.1", 0)) as listener, connections:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, LITTLE)
        thread = threading.Thread(target=serve)
        thread.start()
        try:
            yield f"{'https' if tls else 'http'}://127.0.0.1:{listener.getsockname()[1]}"
        finally:
            listener.shutdown(socket.SHUT_RDWR)
            thread.join()


@pytest.mark.parametrize("scheme", ["http", "https"])
@pytest.mark.parametrize("size", [2, 16 * 2**20])
def test_cancelling_does_not_wait_for_the_server(
    run: Any, connect: Any, ask: Any, certified: Any, scheme: str, size: int
) -> None:
    """Neither for the rest of the request to go nor for the server to agree: the socket is closed."""

    async def scenario(url: str) -> Exchange:
        async with connect(url, timeout_s=SHORT_S, verify=False) as transport:
            return await ask(transport, b"x" * size)

    with deaf(certified("127.0.0.1") if scheme == "https" else None) as url:
        exchange = run(scenario(url))
    assert exchange.failure == Failure.TOTAL_TIMEOUT


def test_half_a_close_right_after_the_handshake(run: Any, connect: Any, ask: Any) -> None:
    """It ends a request, whether the client learns of it with the handshake or after it."""

    async def scenario(url: str) -> list[Exchange]:
        async with connect(url) as transport:
            return [await ask(transport) for _ in range(20)]

    with deaf(half_closes=True) as url:
        exchanges = run(scenario(url))
    assert {exchange.failure for exchange in exchanges} == {Failure.RESET}


def test_giving_up_when_hands_have_just_been_shaken(run: Any, connect: Any, ask: Any, certified: Any) -> None:
    """The deadline comes in the very turn in which the handshake is complete."""
    met = threading.Event()

    async def scenario(url: str) -> Exchange:
        async with connect(url, timeout_s=SHORT_S, verify=False) as transport:
            asking = asyncio.create_task(ask(transport))
            await asyncio.sleep(SHORT_S / 4)
            met.set()
            time.sleep(SHORT_S)  # noqa: ASYNC251 (the loop is to be busy)
            return await asking

    with deaf(certified("127.0.0.1"), met=met) as url:
        exchange = run(scenario(url))
    assert exchange.failure == Failure.TOTAL_TIMEOUT


def test_an_answer_before_the_end_of_a_request_that_waits(
    run: Any, connect: Any, ask: Any, wire: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It counts, and the connection, on which the rest would have to go first, is closed."""
    stamp_arrivals = StampingSocket.stamp_arrivals

    def stamp_arrivals_in_little_room(sock: StampingSocket) -> bool:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, LITTLE)
        return stamp_arrivals(sock)

    monkeypatch.setattr(StampingSocket, "stamp_arrivals", stamp_arrivals_in_little_room)

    async def scenario(url: str) -> list[Exchange]:
        async with connect(url) as transport:
            return [await ask(transport, b"x" * 60_000) for _ in range(2)]

    with deaf(says=wire.sized(b"too much", 413)) as url:
        exchanges = run(scenario(url))
    assert [exchange.failure for exchange in exchanges] == [None, None]
    assert [exchange.stream.body() for exchange in exchanges] == [b"too much"] * 2
    assert [exchange.setup.reused for exchange in exchanges] == [False, False]
