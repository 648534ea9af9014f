"""Keep-alive: which connections are used again, and what becomes of those that the server gave up."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, Any

import pytest

from loadgen.driver.client import chat_completions
from loadgen.driver.client.codec import Generation
from loadgen.driver.requests.turn import RequestRunner
from recorder.event import TERMINAL
from workloads.sample import Sample

if TYPE_CHECKING:
    from collections.abc import Callable

    from loadgen.driver.client.exchange import Exchange
    from recorder.event import Event

AT_ONCE = 150
IDLE_S = 0.05
"""Long enough for a close to arrive."""


@pytest.fixture(scope="module")
def several(run: Any, serve: Any, connect: Any, ask: Any) -> Callable[..., tuple[Any, list[Exchange]]]:
    """Send a request for each script, or each on a new connection: server and exchanges."""

    def several(
        *scripts: Any, host: str = "127.0.0.1", closed: bool = False, pause_s: float = 0.0
    ) -> tuple[Any, list[Exchange]]:
        async def scenario() -> tuple[Any, list[Exchange]]:
            exchanges = []
            async with serve(*scripts) as server, connect(f"http://{host}:{server.port}") as transport:
                for _ in scripts:
                    exchanges.append(await ask(transport))
                    if closed:
                        await server.hung_up.wait()
                        server.hung_up.clear()
                    await asyncio.sleep(pause_s)
            return server, exchanges

        return run(scenario())

    return several


@pytest.mark.parametrize(("body", "connections"), [("TOKEN", 2), ("STREAM", 1)])
def test_an_answer_that_lacks_its_end_spoils_the_connection(
    run: Any, serve: Any, connect: Any, wire: Any, body: str, connections: int
) -> None:
    """Complete for HTTP, not for the protocol: its rest may come when another request has the connection."""

    async def scenario() -> tuple[int, list[str]]:
        events: list[Event] = []
        scripts = [[wire.sized(getattr(wire, body), content_type="text/event-stream")]] * 2
        async with serve(*scripts) as server, connect(server.url) as transport:
            runner = RequestRunner(transport, chat_completions, Generation("m"), events.append)
            for _ in scripts:
                sample = Sample(0, "why?")
                await runner.run(sample, runner.prepare(sample), time.monotonic_ns(), "performance")
        ends = [event.data.get("error", "") for event in events if event.type in TERMINAL]
        return server.connections, ends

    assert run(scenario()) == (connections, ["truncated" if connections > 1 else ""] * 2)


def test_a_connection_is_used_again(several: Any, wire: Any) -> None:
    """Only the first request has to connect, and says how long that took."""
    server, exchanges = several(*[[wire.chunked(b"abc")]] * 3, host="localhost")
    assert server.connections == 1
    setups = [exchange.setup for exchange in exchanges]
    assert [setup.reused for setup in setups] == [False, True, True]
    assert setups[0].connect_ms > 0
    assert setups[0].dns_ms > 0
    assert [(setup.connect_ms, setup.tls_ms, setup.dns_ms) for setup in setups[1:]] == [
        (None, None, None)
    ] * 2
    assert all(exchange.stream.body() == b"abc" for exchange in exchanges)


@pytest.mark.parametrize("wish", [{"headers": {"Connection": "close"}}, {"keep_alive": False}])
def test_one_connection_per_request(
    run: Any, serve: Any, connect: Any, ask: Any, wire: Any, wish: dict[str, Any]
) -> None:
    """Each request asks the server to close, and its connection is not used again."""

    async def scenario() -> tuple[Any, list[Exchange]]:
        async with serve([wire.chunked(b"abc")]) as server, connect(server.url, **wish) as transport:
            return server, [await ask(transport) for _ in range(3)]

    server, exchanges = run(scenario())
    assert [exchange.setup.reused for exchange in exchanges] == [False] * 3
    assert [exchange.failure for exchange in exchanges] == [None] * 3
    assert server.connections == 3
    assert [request.lower().count(b"\r\nconnection: close\r\n") for request in server.requests] == [1] * 3


@pytest.mark.parametrize(
    "kind", ["close", "http 1.0", "until close", "more than was announced", "and a part of another"]
)
def test_some_connections_are_not(several: Any, wire: Any, step: Any, transport_kind: Any, kind: str) -> None:
    """The server says so, or cannot be trusted to know where its response ended."""
    if kind == "and a part of another" and not transport_kind.ends_early:
        pytest.skip(
            "aiohttp discards bytes that follow a complete response and reports nothing, so a transport over "
            "it cannot notice them; both native transports are tested"
        )
    first = {
        "close": [wire.sized(b"abc", connection="close")],
        "http 1.0": [wire.sized(b"abc").replace(b"HTTP/1.1", b"HTTP/1.0")],
        "until close": [wire.head() + b"abc", step.CLOSE],
        "more than was announced": [wire.sized(b"abc") + b"def"],
        "and a part of another": [wire.sized(b"abc") + b"HTTP/1.1 2"],
    }[kind]
    server, (response, two) = several(first, [wire.sized(b"abc")])
    assert (server.connections, two.setup.reused) == (2, False)
    assert (two.failure, two.stream.body()) == (None, b"abc")
    if kind == "more than was announced" and not transport_kind.ends_early:
        assert response.failure == "malformed_frame"
    else:
        assert (response.failure, response.stream.body()) == (None, b"abc")


def test_a_failure_takes_only_its_own_connection_with_it(several: Any, wire: Any, step: Any) -> None:
    """The next request has a new one."""
    whole = [wire.sized(b"abc")]
    server, exchanges = several(whole, [wire.head(content_length=9) + b"abc", step.CLOSE], whole, whole)
    assert [exchange.failure for exchange in exchanges] == [None, "truncated", None, None]
    assert [exchange.setup.reused for exchange in exchanges] == [False, True, False, True]
    assert server.connections == 2


@pytest.mark.parametrize("pause_s", [0.01, IDLE_S])
@pytest.mark.parametrize("crash_message", [b"", b"HTTP/1.1 408 Request Timeout\r\nContent-Length: 0\r\n\r\n"])
def test_the_server_closes_an_idle_connection(
    several: Any, wire: Any, step: Any, pause_s: float, crash_message: bytes
) -> None:
    """Silently or with bytes that no request asked for: the next request goes another way."""
    closing = [wire.sized(b"abc"), 0.01, crash_message, step.CLOSE]
    server, exchanges = several(closing, closing, closed=True, pause_s=pause_s)
    assert [exchange.failure for exchange in exchanges] == [None, None]
    assert server.connections == 2


@pytest.mark.parametrize(("status", "unasked"), [(200, 1), (503, 1), (408, 0)])
def test_an_unasked_word_spoils_a_connection(
    several: Any, wire: Any, step: Any, status: int, unasked: int
) -> None:
    """It could be taken for the next answer, which says so, unless it is the farewell that a 408 is."""
    script = [wire.sized(b"abc"), step.READ, wire.sized(b"def", status)]
    server, exchanges = several(script, script, closed=True)
    assert [exchange.stream.body() for exchange in exchanges] == [b"abc", b"abc"]
    assert [exchange.setup.unasked for exchange in exchanges] == [0, unasked]
    assert server.connections == 2


def test_bytes_that_are_not_a_response_are_not_counted(several: Any, wire: Any) -> None:
    """It spoils the connection all the same."""
    script = [wire.sized(b"abc"), 0.01, b"\r\n"]
    _, exchanges = several(script, script, closed=True)
    assert [(exchange.setup.reused, exchange.setup.unasked) for exchange in exchanges] == [(False, 0)] * 2


def test_requests_at_once_have_a_connection_each(
    run: Any, serve: Any, connect: Any, ask: Any, wire: Any
) -> None:
    """However many, and the connections are there for the next ones."""

    async def scenario() -> tuple[Any, list[Exchange]]:
        async with serve([0.1, wire.sized(b"abc")]) as server, connect(server.url) as transport:
            first = await asyncio.gather(*(ask(transport) for _ in range(AT_ONCE)))
            second = await asyncio.gather(*(ask(transport) for _ in range(AT_ONCE)))
            return server, [*first, *second]

    server, exchanges = run(scenario())
    assert server.connections == AT_ONCE
    assert [exchange.setup.reused for exchange in exchanges] == [False] * AT_ONCE + [True] * AT_ONCE
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


@pytest.mark.parametrize("scheme", ["http", "https"])
def test_connections_that_are_opened_ahead(
    run: Any, serve: Any, connect: Any, ask: Any, wire: Any, transport_kind: Any, certified: Any, scheme: str
) -> None:
    """How many of the next requests find one, and connecting is not part of them; one more has to connect."""
    if not transport_kind.opens_ahead:
        assert not hasattr(transport_kind.make, "open_ahead")
        return

    async def scenario() -> tuple[int, list[Exchange]]:
        tls = certified("127.0.0.1") if scheme == "https" else None
        async with (
            serve([0.02, wire.sized(b"abc")], tls=tls) as server,
            connect(server.url, verify=False) as transport,
        ):
            await transport.open_ahead(5)
            exchanges = await asyncio.gather(*(ask(transport) for _ in range(6)))
            return server.connections, exchanges

    connections, exchanges = run(scenario())
    assert connections == 6
    assert {(exchange.failure, exchange.stream.body()) for exchange in exchanges} == {(None, b"abc")}
    assert sorted(exchange.setup.reused for exchange in exchanges) == [False, *[True] * 5]
    assert sum(exchange.setup.connect_ms is not None for exchange in exchanges) == 1


def test_opening_ahead_where_no_process_listens(
    run: Any, connect: Any, ask: Any, transport_kind: Any, refusing: str
) -> None:
    """It is the request that fails, as without it."""
    if not transport_kind.opens_ahead:
        return

    async def scenario() -> Exchange:
        async with connect(refusing) as transport:
            await transport.open_ahead(3)
            return await ask(transport)

    assert run(scenario()).failure == "refused"
