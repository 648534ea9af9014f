"""What only the second transport does: it goes through the proxy that the environment names."""

from __future__ import annotations

import asyncio
import base64
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING, Any

import pytest

from loadgen.driver.client.aiohttp_transport import AiohttpTransport
from loadgen.driver.client.endpoint import endpoint
from loadgen.driver.client.failure import Failure
from loadgen.driver.client.timeouts import Timeouts

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Coroutine

    from loadgen.driver.client.exchange import Exchange


@pytest.fixture(scope="module")
def send(ask: Any) -> Callable[..., Coroutine[Any, Any, list[Exchange]]]:
    """Send requests to a URL, one after the other."""

    async def send(url: str, requests: int = 1) -> list[Exchange]:
        transport = AiohttpTransport(endpoint(url, {}, verify=False), Timeouts(10))
        try:
            return [await ask(transport) for _ in range(requests)]
        finally:
            await transport.close()

    return send


@asynccontextmanager
async def tunnels(message: list[bytes]) -> AsyncIterator[str]:
    """A proxy that opens tunnels, and its URL; it keeps the first line of each connection."""
    tasks: set[asyncio.Task[None]] = set()

    async def pipe(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while data := await reader.read(65536):
            writer.write(data)
        writer.close()

    async def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        tasks.add(task)
        message.append(await reader.readuntil(b"\r\n\r\n"))
        host, port = message[-1].split()[1].decode().split(":")
        far_reader, far_writer = await asyncio.open_connection(host, int(port))
        writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
        with suppress(ConnectionError):
            await asyncio.gather(pipe(reader, far_writer), pipe(far_reader, writer))

    async with await asyncio.start_server(accept, "127.0.0.1", 0) as server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        await asyncio.gather(*tasks)


def test_a_proxy_carries_what_is_not_encrypted(
    run: Any, serve: Any, send: Any, wire: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It gets the whole address, and looks the host up itself."""

    async def scenario() -> tuple[list[bytes], list[Exchange]]:
        async with serve([wire.sized(b"abc")]) as proxy:
            monkeypatch.setenv("http_proxy", proxy.url)
            return proxy.requests, await send("http://elsewhere.invalid:81", 2)

    requests, exchanges = run(scenario())
    assert [(exchange.failure, exchange.stream.body()) for exchange in exchanges] == [(None, b"abc")] * 2
    assert [exchange.setup.reused for exchange in exchanges] == [False, True]
    assert exchanges[0].setup.connect_ms > 0
    assert requests[0].startswith(b"POST http://elsewhere.invalid:81/v1/chat/completions HTTP/1.1\r\n")
    assert b"\r\nHost: elsewhere.invalid:81\r\n" in requests[0]


def test_a_proxy_may_want_to_know_who_asks(
    run: Any, serve: Any, send: Any, wire: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """User and password are in its address; a scheme need not."""

    async def scenario() -> tuple[list[bytes], list[Exchange]]:
        async with serve([wire.sized(b"abc")]) as proxy:
            monkeypatch.setenv("http_proxy", f"me:secret@127.0.0.1:{proxy.port}")
            return proxy.requests, await send("http://elsewhere.invalid")

    requests, (exchange,) = run(scenario())
    assert exchange.failure is None
    assert b"Proxy-Authorization: Basic " + base64.b64encode(b"me:secret") in requests[0]


def test_a_tunnel_for_what_is_encrypted(
    run: Any, serve: Any, send: Any, wire: Any, certified: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The proxy gets the destination, and nothing else; it is kept for the next request."""
    text: list[bytes] = []

    async def scenario() -> list[Exchange]:
        async with serve([wire.sized(b"abc")], tls=certified("127.0.0.1")) as server, tunnels(text) as proxy:
            monkeypatch.setenv("https_proxy", proxy)
            return await send(server.url, 2)

    first, second = run(scenario())
    assert (first.failure, first.stream.body(), second.failure) == (None, b"abc", None), first.message
    assert first.setup.tls_ms > 0
    assert second.setup.reused
    assert [head.split()[0] for head in text] == [b"CONNECT"]
    assert b"X-Request-Id" not in text[0]


def test_hosts_without_a_proxy(
    run: Any, serve: Any, send: Any, wire: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The environment can make exceptions."""
    monkeypatch.setenv("http_proxy", "http://proxy.invalid")
    monkeypatch.setenv("no_proxy", "localhost,127.0.0.1")

    async def scenario() -> list[Exchange]:
        async with serve([wire.sized(b"abc")]) as server:
            return await send(server.url)

    (exchange,) = run(scenario())
    assert exchange.failure is None


def test_a_proxy_that_refuses(
    run: Any, serve: Any, send: Any, wire: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """There is no connection, and it was the proxy that said so."""

    async def scenario() -> list[Exchange]:
        async with serve([wire.sized(b"no", 403)]) as proxy:
            monkeypatch.setenv("https_proxy", proxy.url)
            return await send("https://elsewhere.invalid")

    (exchange,) = run(scenario())
    assert (exchange.failure, exchange.sent_ns, exchange.setup) == (Failure.REFUSED, None, None)
    assert "the proxy says 403" in exchange.message


@pytest.mark.parametrize(
    ("proxy", "failure", "message"),
    [
        ("http://me:secret@127.0.0.1:1", Failure.REFUSED, "no connection to 127.0.0.1:1"),
        ("http://me:secret@proxy.invalid", Failure.DNS, "proxy.invalid has no address"),
        ("socks5://me:secret@127.0.0.1:1", Failure.REFUSED, "names a proxy that is socks5://"),
    ],
)
def test_a_proxy_that_cannot_be_used(
    run: Any, send: Any, monkeypatch: pytest.MonkeyPatch, proxy: str, failure: str, message: str
) -> None:
    """The message names the proxy, and not its password."""
    monkeypatch.setenv("http_proxy", proxy)
    (exchange,) = run(send("http://elsewhere.invalid"))
    assert exchange.failure == failure
    assert message in exchange.message
    assert "secret" not in exchange.message
