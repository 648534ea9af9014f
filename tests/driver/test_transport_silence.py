"""How long every transport lets a server be silent, and what counts as a word from it."""

from __future__ import annotations

import asyncio
import socket
import time
from typing import TYPE_CHECKING, Any

import pytest

from loadgen.driver.client import chat_completions
from loadgen.driver.client.endpoint import Request
from loadgen.driver.client.exchange import Exchange
from loadgen.driver.client.failure import Failure
from loadgen.driver.client.stream import ResponseStream

if TYPE_CHECKING:
    from collections.abc import Callable

SHORT_S = 0.1
SHORT_NS = 100_000_000
LONG_S = 20.0
LONG_ENOUGH_S = 0.8
"""In which bytes that are on their way arrive, also where this process is stopped for half a second."""

HELD_UP_S = 1.5
"""The silence that is allowed while the client is held up."""

IN_TIME = 0.51
"""This share of it leaves more than half a second, for which a busy machine may stop this process."""

SLOW_S = 0.02
"""The server's pauses, far below what is allowed wherever they are allowed."""

START = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: 1000\r\n\r\n: abc\n"
LARGE = b"x" * (16 * 2**20)
"""A request that no socket buffer takes at once."""


@pytest.fixture(scope="module")
def exchange_of(run: Any, serve: Any, connect: Any, ask: Any) -> Callable[..., Exchange]:
    """One request to a server that plays this script."""

    def exchange_of(
        *script: Any, body: bytes = b"{}", whole_requests: bool = True, **timeouts: float
    ) -> Exchange:
        async def scenario() -> Exchange:
            async with (
                serve(script, whole_requests=whole_requests) as server,
                connect(server.url, **timeouts) as transport,
            ):
                return await ask(transport, body)

        return run(scenario())

    return exchange_of


def test_no_first_byte(exchange_of: Any, step: Any) -> None:
    """The time counts from the request's last byte, and is over when it is over, whenever that is found."""
    exchange = exchange_of(step.HANG, first_byte_timeout_s=SHORT_S, idle_timeout_s=LONG_S)
    assert (exchange.failure, exchange.first_byte_ns) == (Failure.FIRST_BYTE_TIMEOUT, None)
    assert exchange.message == "no byte of a response within 0.1 s (--first-byte-timeout)"
    assert exchange.ended_ns - exchange.sent_ns == SHORT_NS


def test_no_further_byte(exchange_of: Any, step: Any) -> None:
    """The time counts from the last byte that came; what had come is kept."""
    exchange = exchange_of(
        START, SLOW_S, b": def\n", step.HANG, first_byte_timeout_s=LONG_S, idle_timeout_s=LONG_ENOUGH_S
    )
    assert (exchange.failure, exchange.stream.body()) == (Failure.IDLE_TIMEOUT, b": abc\n: def\n")
    assert exchange.message == "the response paused for 0.8 s (--idle-timeout)"
    assert exchange.ended_ns - exchange.stream.last_ns == round(LONG_ENOUGH_S * 1e9)


@pytest.mark.parametrize("start", [START[:9], START[:60], b"HTTP/1.1 103 Early Hints\r\n\r\n"])
def test_a_head_that_stops(exchange_of: Any, step: Any, start: bytes) -> None:
    """With its first byte the response has begun."""
    idle = exchange_of(start, step.HANG, first_byte_timeout_s=LONG_S, idle_timeout_s=0.05)
    assert idle.failure == Failure.IDLE_TIMEOUT
    silent = exchange_of(
        start, step.HANG, first_byte_timeout_s=LONG_ENOUGH_S, timeout_s=LONG_ENOUGH_S + SHORT_S
    )
    assert silent.failure == Failure.TOTAL_TIMEOUT


def test_trailers_do_not_extend_the_idle_timeout(exchange_of: Any, wire: Any) -> None:
    """A server that sends them without end is left alone when the body has paused for too long."""
    body = [wire.head(transfer_encoding="chunked") + wire.chunk(wire.STREAM) + b"0\r\n"]
    exchange = exchange_of(*body, *[SLOW_S, b"X: y\r\n"] * 500, idle_timeout_s=SHORT_S, timeout_s=LONG_S)
    assert (exchange.failure, exchange.stream.body()) == (Failure.IDLE_TIMEOUT, wire.STREAM)
    assert exchange.ended_ns - exchange.stream.last_ns == SHORT_NS


@pytest.mark.parametrize("field", [b"X: y\r\n" * 1000, b"x" * 6000])
def test_trailers_are_bounded(exchange_of: Any, wire: Any, field: bytes) -> None:
    """How many fields, or a field of this many bytes, and the connection is closed."""
    body = wire.head(transfer_encoding="chunked") + wire.chunk(wire.STREAM) + b"0\r\n"
    exchange = exchange_of(body, 0.01, *[field, 0.001] * 1000, idle_timeout_s=LONG_S)
    assert (exchange.failure, exchange.stream.body()) == (Failure.TOO_LARGE, wire.STREAM)
    assert "trailers of more than 65536 bytes" in exchange.message


def test_each_time_has_its_own_limit(exchange_of: Any, wire: Any) -> None:
    """A first byte may take longer than the others are allowed to, and all together longer than each."""
    longer_s, many = LONG_ENOUGH_S + SHORT_S, 45
    drips = [SLOW_S, wire.chunk(b": \n")] * many
    start = [longer_s, wire.head(transfer_encoding="chunked")]
    exchange = exchange_of(
        *start, *drips, wire.chunk(b""), first_byte_timeout_s=LONG_S, idle_timeout_s=LONG_ENOUGH_S
    )
    assert (exchange.failure, exchange.framed) == (None, True)
    assert exchange.ended_ns - exchange.first_byte_ns > LONG_ENOUGH_S * 1e9
    parts = (wire.head(content_length=3), longer_s, b"abc")
    exchange = exchange_of(*parts, first_byte_timeout_s=LONG_ENOUGH_S, idle_timeout_s=LONG_S)
    assert (exchange.failure, exchange.stream.body()) == (None, b"abc")


def test_a_request_that_is_not_read_waits_for_no_answer(exchange_of: Any, step: Any) -> None:
    """It was not even sent: only its own time is over."""
    exchange = exchange_of(
        *(10.0, step.HANG), timeout_s=0.3, first_byte_timeout_s=SHORT_S, whole_requests=False, body=LARGE
    )
    assert (exchange.failure, exchange.sent_ns) == (Failure.TOTAL_TIMEOUT, None)


def test_the_connection_goes_with_it(
    run: Any, serve: Any, connect: Any, ask: Any, wire: Any, step: Any
) -> None:
    """A late answer is not taken for that to the next request."""

    async def scenario() -> list[Exchange]:
        scripts = [START, step.HANG], [wire.sized(b"abc")]
        async with serve(*scripts) as server, connect(server.url, idle_timeout_s=SHORT_S) as transport:
            return [await ask(transport) for _ in range(2)]

    first, second = run(scenario())
    assert (first.failure, second.failure) == (Failure.IDLE_TIMEOUT, None)
    assert (second.setup.reused, second.stream.body()) == (False, b"abc")


@pytest.fixture
def held_up(run: Any, connect: Any) -> Callable[[float, float], Exchange]:
    """One request by a client that is held up, and the server says a word in the middle of that."""

    async def scenario(before_s: float, after_s: float) -> Exchange:
        loop = asyncio.get_running_loop()
        with socket.create_server(("127.0.0.1", 0)) as listener:
            listener.settimeout(0)
            async with connect(
                f"http://127.0.0.1:{listener.getsockname()[1]}", idle_timeout_s=HELD_UP_S
            ) as transport:
                exchange = Exchange(ResponseStream(chat_completions), lambda _: None, lambda _: None)
                request = Request("POST", "/chat/completions", "an-id", b"{}")
                asking = asyncio.create_task(transport.send(request, exchange))
                connection, _ = await loop.sock_accept(listener)
                with connection:
                    await loop.sock_recv(connection, 65536)
                    await loop.sock_sendall(connection, START)
                    while not exchange.stream.bytes:  # noqa: ASYNC110 (polled: nothing signals it)
                        await asyncio.sleep(0)
                    time.sleep(before_s)  # noqa: ASYNC251 (the loop is to be busy)
                    connection.send(b": def\n")
                    time.sleep(after_s)  # noqa: ASYNC251 (as above)
                    await asyncio.sleep(SLOW_S)
                    if not asking.done():
                        await loop.sock_sendall(connection, b"x" * (1000 - 12))
                    await asking
        return exchange

    return lambda before_s, after_s: run(scenario(before_s, after_s))


def test_what_lies_unread_is_a_word(held_up: Callable[[float, float], Exchange]) -> None:
    """A client that is held up while the server speaks does not take it for a silent server."""
    exchange = held_up(IN_TIME * HELD_UP_S, IN_TIME * HELD_UP_S)
    assert (exchange.failure, exchange.stream.bytes) == (None, 1000)


def test_a_silence_after_it_counts_from_that_word(held_up: Callable[[float, float], Exchange]) -> None:
    """Where the client is held up for longer still."""
    exchange = held_up(0.1 * HELD_UP_S, 1.05 * HELD_UP_S)
    assert (exchange.failure, exchange.stream.body()) == (Failure.IDLE_TIMEOUT, b": abc\n: def\n")
    assert exchange.ended_ns == exchange.stream.last_ns + round(HELD_UP_S * 1e9)


def test_the_whole_time_counts_what_had_arrived(exchange_of: Any, wire: Any, step: Any) -> None:
    """A response that is complete but for its end, and one that had begun, keep what they have."""
    exchange = exchange_of(wire.head() + b": abc\n", step.HANG, timeout_s=LONG_ENOUGH_S)
    assert (exchange.failure, exchange.stream.body()) == (Failure.TOTAL_TIMEOUT, b": abc\n")
