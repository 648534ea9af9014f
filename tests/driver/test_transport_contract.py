"""What every transport does with what servers do: a contract on real connections.

A transport is made by the fixture `connect`; who writes another adds it to the fixture's parameters.
"""

from __future__ import annotations

import asyncio
import resource
import socket
import time
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from loadgen.driver.client.failure import Failure

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from loadgen.driver.client.exchange import Exchange

LARGE = b"x" * (16 * 2**20)
"""A request body that no socket buffer takes at once."""

ONE_LINE = bytes.maketrans(b"\r\n", b"??")


def summary(exchange: Exchange) -> tuple[Any, ...]:
    """The outcome of an exchange, times aside."""
    status = exchange.response.status if exchange.response else None
    return (status, exchange.stream.body(), exchange.failure, exchange.framed)


def assert_in_order(exchange: Exchange) -> None:
    """Sent, first byte, end."""
    moments = (exchange.sent_ns, exchange.first_byte_ns, exchange.ended_ns)
    assert None not in moments
    assert list(moments) == sorted(moments)
    assert exchange.ended_ns <= time.monotonic_ns()


@pytest.fixture(scope="module")
def exchange_of(run: Any, serve: Any, connect: Any, ask: Any) -> Callable[..., Exchange]:
    """One request to a server that plays this script."""

    def exchange_of(*script: Any, timeout_s: float = 10.0, body: bytes = b"{}", **server: Any) -> Exchange:
        async def scenario() -> Exchange:
            async with (
                serve(script, **server) as server_,
                connect(server_.url, timeout_s=timeout_s) as transport,
            ):
                return await ask(transport, body)

        return run(scenario())

    return exchange_of


# Responses that come through…


def test_a_chunked_response(exchange_of: Any, wire: Any) -> None:
    """The chunks' contents, joined; the last chunk is the end."""
    exchange = exchange_of(wire.chunked(b"ab", b"c", b"def"))
    assert summary(exchange) == (200, b"abcdef", None, True)
    assert_in_order(exchange)


def test_a_response_with_a_length(exchange_of: Any, wire: Any) -> None:
    """How many bytes, and no more are waited for. A client that is held up reads both parts at once."""
    exchange = exchange_of(wire.head(content_length=6), 0.01, b"abc", 0.01, b"def")
    assert summary(exchange) == (200, b"abcdef", None, True)
    assert exchange.stream.reads in {1, 2}
    assert_in_order(exchange)


def test_a_response_that_ends_with_the_connection(exchange_of: Any, wire: Any, step: Any) -> None:
    """An end that only the connection's end tells is not framed."""
    exchange = exchange_of(wire.head() + b"abc", b"def", step.CLOSE)
    assert summary(exchange) == (200, b"abcdef", None, False)
    assert_in_order(exchange)


@settings(max_examples=60, deadline=None)
@given(
    places=st.lists(st.integers(0, 400), max_size=10),
    # Without line ends there is no frame in it, right or wrong.
    chunks=st.lists(
        st.binary(min_size=1, max_size=20).map(lambda data: data.translate(ONE_LINE)), max_size=5
    ),
)
def test_any_split_of_the_bytes_is_one_response(
    exchange_of: Any,
    wire: Any,
    splits: Callable[[bytes, Iterable[int]], list[bytes]],
    places: list[int],
    chunks: list[bytes],
) -> None:
    """A cut may fall anywhere: in the status line, in a header, in the length of a chunk, in a CRLF."""
    exchange = exchange_of(*splits(wire.chunked(b"?", *chunks), places))
    assert summary(exchange) == (200, b"?" + b"".join(chunks), None, True)


def test_byte_by_byte(exchange_of: Any, wire: Any) -> None:
    """Every cut at once."""
    response = wire.chunked(b"ab", b"c")
    exchange = exchange_of(*(response[i : i + 1] for i in range(len(response))))
    assert summary(exchange) == (200, b"abc", None, True)


@pytest.mark.parametrize("status", [100, 102, 103])
def test_informational_responses_come_before_the_response(exchange_of: Any, wire: Any, status: int) -> None:
    """They are not; their headers are not the response's."""
    hint = wire.head(status, content_type="text/hint", link="x")
    for script in ([hint, 0.01, wire.sized(b"abc")], [hint + hint + wire.sized(b"abc")]):
        exchange = exchange_of(*script)
        assert summary(exchange) == (200, b"abc", None, True)
        text = [exchange.response.header(name) for name in ("content-type", "content-length", "link")]
        assert text == ["text/event-stream", "3", None]


@pytest.mark.parametrize("status", [204, 304])
def test_responses_without_a_body(exchange_of: Any, wire: Any, status: int) -> None:
    """They end with their head, whatever the connection does."""
    assert summary(exchange_of(wire.head(status, content_type=""))) == (status, b"", None, True)


def test_an_http_error_is_a_response(exchange_of: Any, wire: Any) -> None:
    """The transport carries it like any other."""
    assert summary(exchange_of(wire.sized(b"busy", 429))) == (429, b"busy", None, True)


def test_trailers_are_not_headers(exchange_of: Any, wire: Any) -> None:
    """What follows the body cannot change what came before it."""
    exchange = exchange_of(wire.head(transfer_encoding="chunked") + b"1\r\na\r\n0\r\nContent-Type: x\r\n\r\n")
    assert summary(exchange) == (200, b"a", None, True)
    assert exchange.response.event_stream


def test_a_large_response(exchange_of: Any, wire: Any) -> None:
    """Megabytes arrive whole; of a stream what is decoded is dropped, so its end is what is left."""
    body = b"".join(number.to_bytes(4) for number in range(2_560_000))
    exchange = exchange_of(wire.sized(body))
    status, rest, failure, framed = summary(exchange)
    assert (status, failure, framed, exchange.stream.bytes) == (200, None, True, len(body))
    # pytest takes minutes to show how megabytes differ.
    assert body.endswith(rest), "the bytes are others, or in another order"


def test_a_large_request_is_sent_when_its_last_byte_is(exchange_of: Any, wire: Any, step: Any) -> None:
    """The server reads late; the time until then is not its time to answer."""
    start_ns = time.monotonic_ns()
    exchange = exchange_of(0.1, step.DRAIN, wire.sized(b"abc"), whole_requests=False, body=LARGE)
    assert summary(exchange) == (200, b"abc", None, True)
    assert_in_order(exchange)
    assert exchange.sent_ns - start_ns > 90_000_000


def test_an_answer_before_the_end_of_the_request(exchange_of: Any, wire: Any, step: Any) -> None:
    """It counts, and proves that the server has what it wanted; the connection is not used again."""
    exchange = exchange_of(wire.sized(b"too much", 413), step.HANG, whole_requests=False, body=LARGE)
    assert summary(exchange) == (413, b"too much", None, True)
    assert_in_order(exchange)


# Failures…


def test_a_close_instead_of_a_response(exchange_of: Any, step: Any) -> None:
    """Not a byte came."""
    exchange = exchange_of(step.CLOSE)
    assert summary(exchange) == (None, b"", Failure.RESET, False)
    assert "before a response" in exchange.message


def test_a_reset_instead_of_a_response(exchange_of: Any, step: Any) -> None:
    """With a RST, which says so."""
    exchange = exchange_of(step.RESET)
    assert summary(exchange) == (None, b"", Failure.RESET, False)
    assert "reset" in exchange.message


@pytest.mark.parametrize("end", ["CLOSE", "RESET"])
@pytest.mark.parametrize(
    "start",
    [
        *(
            b"HTTP/1.1 2",
            b"HTTP/1.1 200 OK\r\nContent-Le",
            b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc",
        ),
        *(
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + rest
            for rest in (b"", b"3\r\nab", b"0\r\n")
        ),
    ],
)
def test_a_response_that_is_cut(exchange_of: Any, step: Any, start: bytes, end: str) -> None:
    """In the head, in the body, and in the last chunk."""
    exchange = exchange_of(start, getattr(step, end))
    assert exchange.failure == Failure.TRUNCATED
    assert "in the middle of the response" in exchange.message
    assert exchange.stream.body() in (b"", b"ab", b"abc")


def test_a_reset_in_a_body_without_a_length(exchange_of: Any, wire: Any, step: Any) -> None:
    """Only an orderly end is an end."""
    exchange = exchange_of(wire.head() + b"abc", step.RESET)
    assert summary(exchange) == (200, b"abc", Failure.TRUNCATED, False)


@pytest.mark.parametrize(
    "garbage",
    [
        *(b"SSH-2.0-OpenSSH_9.6\r\n", b"\x16\x03\x01\x02\x00", b"<html>", b"HTTP/9.9 200 OK\r\n\r\n"),
        b"HTTP/1.1 200 OK\r\nContent-Length: many\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\nhello",
    ],
)
def test_garbage_instead_of_http(exchange_of: Any, step: Any, garbage: bytes) -> None:
    """It is named for what it is, at once and not at the deadline."""
    exchange = exchange_of(garbage, step.HANG)
    assert exchange.failure == Failure.MALFORMED_FRAME
    assert "HTTP" in exchange.message


@pytest.mark.parametrize(
    ("start", "more"),
    [
        (b"HTTP/1.1 200 OK\r\n", b"X: y\r\n" * 1000),
        (b"HTTP/1.1 200 OK\r\nX: ", b"y" * 6000),
        (b"", b"HTTP/1.1 103 Early Hints\r\nX: y\r\n\r\n" * 200),
    ],
)
def test_headers_without_end(exchange_of: Any, step: Any, start: bytes, more: bytes) -> None:
    """Many, a long one, or head after head: they are given up before they fill the memory."""
    exchange = exchange_of(start, *([more] * 100), step.HANG)
    assert summary(exchange) == (None, b"", Failure.TOO_LARGE, False)


def test_what_the_stream_refuses_ends_the_request(exchange_of: Any, wire: Any, step: Any) -> None:
    """A failure that is found while the response runs closes the connection."""
    exchange = exchange_of(wire.head(transfer_encoding="chunked") + wire.chunk(b"data: {oops\n\n"), step.HANG)
    assert exchange.failure == Failure.MALFORMED_FRAME
    assert "oops" in exchange.message


@pytest.mark.parametrize(
    "start", [b"", b"HTTP/1.1 200 OK\r\n", b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc"]
)
def test_the_deadline(exchange_of: Any, step: Any, start: bytes) -> None:
    """A server that says nothing, or no more, is not waited for without end."""
    exchange = exchange_of(start, step.HANG, timeout_s=0.8)
    assert exchange.failure == Failure.TOTAL_TIMEOUT
    assert "within 0.8 s (--timeout)" in exchange.message
    assert exchange.ended_ns >= exchange.sent_ns


def test_the_deadline_of_a_request_that_is_not_read(exchange_of: Any, step: Any) -> None:
    """It was not even sent."""
    exchange = exchange_of(10.0, step.HANG, timeout_s=0.1, whole_requests=False, body=LARGE)
    assert (exchange.failure, exchange.sent_ns) == (Failure.TOTAL_TIMEOUT, None)


def test_no_process_listens(run: Any, connect: Any, ask: Any, refusing: str) -> None:
    """A port that is not open."""

    async def scenario() -> Exchange:
        async with connect(refusing) as transport:
            return await ask(transport)

    exchange = run(scenario())
    assert (exchange.failure, exchange.sent_ns, exchange.setup) == (Failure.REFUSED, None, None)
    assert exchange.ended_ns is not None


@pytest.mark.parametrize("host", ["no-such-host.invalid", "a..b.invalid", f"{'a' * 64}.invalid"])
def test_a_host_without_an_address(run: Any, connect: Any, ask: Any, host: str) -> None:
    """The name is reserved for having none; two others cannot be names at all."""

    async def scenario() -> Exchange:
        async with connect(f"http://{host}") as transport:
            return await ask(transport)

    exchange = run(scenario())
    assert exchange.failure == Failure.DNS
    assert f"{host} has no address" in exchange.message


def test_a_host_that_moves(
    run: Any, serve: Any, connect: Any, ask: Any, wire: Any, refusing: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is looked up once, and again when no server answers where it was."""
    asked: list[str] = []
    old_port = int(refusing.rpartition(":")[2])

    async def scenario() -> list[Exchange]:
        async with serve([wire.sized(b"abc")]) as new, connect("http://moving.invalid") as transport:

            def look_up(host: str | bytes, *_: Any, **__: Any) -> list[Any]:
                asked.append(host.decode() if isinstance(host, bytes) else host)
                port = (old_port, new.port)[len(asked) > 1]
                return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", port))]

            monkeypatch.setattr(socket, "getaddrinfo", look_up)
            return [await ask(transport) for _ in range(3)]

    exchanges = run(scenario())
    assert [exchange.failure for exchange in exchanges] == [Failure.REFUSED, None, None]
    assert asked == ["moving.invalid"] * 2


# Giving up…


@pytest.mark.parametrize("start", [b"", b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc"])
def test_cancelling_closes_the_connection(
    run: Any, serve: Any, connect: Any, ask: Any, wire: Any, step: Any, start: bytes
) -> None:
    """The server hears of it, and the next request does not go the same way."""

    async def scenario() -> tuple[Any, Exchange]:
        async with (
            serve([start, step.HANG], [wire.sized(b"abc")]) as server,
            connect(server.url) as transport,
        ):
            asking = asyncio.create_task(ask(transport))
            await server.asked.wait()
            asking.cancel()
            with pytest.raises(asyncio.CancelledError):
                await asking
            await server.hung_up.wait()
            return server, await ask(transport)

    server, exchange = run(scenario())
    assert summary(exchange) == (200, b"abc", None, True)
    assert (server.connections, exchange.setup.reused) == (2, False)


def test_cancelling_while_connecting(run: Any, serve: Any, connect: Any, ask: Any) -> None:
    """Nothing is left behind, at whichever step it comes."""

    async def scenario() -> None:
        async with serve([b""]) as server:
            for steps in range(12):
                async with connect(server.url) as transport:
                    asking = asyncio.create_task(ask(transport))
                    for _ in range(steps):
                        await asyncio.sleep(0.001)
                    asking.cancel()
                    with pytest.raises(asyncio.CancelledError):
                        await asking

    run(scenario())


def test_no_descriptor_left(run: Any, serve: Any, connect: Any, ask: Any, wire: Any) -> None:
    """It is this machine that has reached its limit, and the message says which; then it goes on."""

    async def scenario() -> list[Exchange]:
        async with serve([wire.sized(b"abc")]) as server, connect(server.url) as transport:
            soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
            with socket.socket() as lowest:
                free = lowest.fileno()
            resource.setrlimit(resource.RLIMIT_NOFILE, (free, hard))
            try:
                exchanges = [await ask(transport)]
            finally:
                resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
            return [*exchanges, await ask(transport)]

    limited, free = run(scenario())
    assert limited.failure == Failure.CLIENT_LIMIT
    assert "ulimit -n" in limited.message
    assert summary(free) == (200, b"abc", None, True)
