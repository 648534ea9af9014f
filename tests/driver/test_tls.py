"""The measured transport over TLS: the same, with a handshake before."""

from __future__ import annotations

import _ssl
import asyncio
import ctypes
import os
import socket
import ssl
from typing import TYPE_CHECKING, Any

import pytest

from loadgen.driver.client.aiohttp_transport import AiohttpTransport
from loadgen.driver.client.failure import Failure
from loadgen.driver.client.http_transport import InterpretedTransport
from loadgen.driver.client.tls import TLSLayer

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    import trustme

    from loadgen.driver.client.exchange import Exchange

GENERATING_S = 0.05


@pytest.fixture
def trusting(authority: trustme.CA, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """This process trusts the authority, in the way in which people tell OpenSSL."""
    authority.cert_pem.write_to_path(tmp_path / "ca.pem")
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "ca.pem"))


@pytest.fixture(scope="module")
def several(run: Any, serve: Any, connect: Any, ask: Any) -> Callable[..., tuple[Any, list[Exchange]]]:
    """Send a request for each script, one after the other; the server and the exchanges."""

    def several(tls: ssl.SSLContext, *scripts: Any, **options: Any) -> tuple[Any, list[Exchange]]:
        async def scenario() -> tuple[Any, list[Exchange]]:
            async with serve(*scripts, tls=tls) as server, connect(server.url, **options) as transport:
                return server, [await ask(transport) for _ in scripts]

        return run(scenario())

    return several


@pytest.mark.usefixtures("trusting")
def test_a_certificate_that_is_trusted(several: Any, certified: Any, wire: Any) -> None:
    """The handshake is timed, and the connection is used again."""
    server, (first, two) = several(certified("127.0.0.1"), *[[wire.chunked(b"abc")]] * 2)
    assert (first.failure, first.stream.body()) == (None, b"abc"), first.message
    assert (two.failure, two.stream.body()) == (None, b"abc")
    assert first.setup.tls_ms > 0
    assert first.setup.connect_ms > 0
    assert (two.setup.reused, two.setup.tls_ms, server.connections) == (True, None, 1)


def test_a_certificate_that_is_not(several: Any, certified: Any, wire: Any) -> None:
    """This authority is not trusted."""
    _, (exchange,) = several(certified("127.0.0.1"), [wire.sized(b"abc")])
    assert exchange.failure == Failure.TLS
    assert "certificate verify failed" in exchange.message
    assert exchange.sent_ns is None


@pytest.mark.usefixtures("trusting")
def test_a_certificate_for_another_host(several: Any, certified: Any, wire: Any) -> None:
    """The name has to be the one that was called."""
    _, (exchange,) = several(certified("elsewhere.example"), [wire.sized(b"abc")])
    assert exchange.failure == Failure.TLS
    assert "127.0.0.1" in exchange.message


def test_a_certificate_that_is_not_verified(several: Any, certified: Any, wire: Any) -> None:
    """On request, any will do."""
    _, (exchange,) = several(certified("elsewhere.example"), [wire.sized(b"abc")], verify=False)
    assert (exchange.failure, exchange.stream.body()) == (None, b"abc"), exchange.message


def test_a_server_without_tls(run: Any, serve: Any, connect: Any, ask: Any, step: Any) -> None:
    """It answers the handshake in clear, or hangs up."""

    async def scenario(greeting: Any) -> Exchange:
        async with (
            serve([], greeting=greeting) as server,
            connect(server.url.replace("http:", "https:")) as transport,
        ):
            return await ask(transport)

    for greeting in ([b"HTTP/1.1 400 Bad Request\r\n\r\n"], [step.CLOSE], [step.RESET]):
        exchange = run(scenario(greeting))
        assert exchange.failure == Failure.TLS
        assert exchange.message.startswith("no TLS with 127.0.0.1")


def test_a_server_with_tls_that_is_called_without(
    run: Any, serve: Any, connect: Any, ask: Any, certified: Any
) -> None:
    """Whatever it says to that is not a response."""

    async def scenario() -> Exchange:
        async with (
            serve([], tls=certified("127.0.0.1")) as server,
            connect(server.url.replace("https:", "http:")) as transport,
        ):
            return await ask(transport)

    assert run(scenario()).failure in (Failure.RESET, Failure.MALFORMED_FRAME, Failure.TRUNCATED)


@pytest.mark.parametrize("reads", [1, 2, 3, 4])
def test_sent_is_before_the_server_s_time(several: Any, certified: Any, wire: Any, reads: int) -> None:
    """In however many reads the response before came; and each leaves its connection fit for the next."""
    body = b"x" * reads
    pieces = [wire.head(content_length=reads) + body[:1], *(body[i : i + 1] for i in range(1, reads))]
    script = [GENERATING_S] + [step for piece in pieces for step in (piece, 0.005)]
    server, exchanges = several(certified("127.0.0.1"), *[script] * 4, verify=False)
    assert [exchange.failure for exchange in exchanges] == [None] * 4
    assert min(exchange.first_byte_ns - exchange.sent_ns for exchange in exchanges) >= GENERATING_S * 0.9e9
    assert server.connections == 1


def test_a_cut_is_a_cut(several: Any, certified: Any, wire: Any, step: Any) -> None:
    """In the middle of a head or of a body with a length; and an orderly end is one where there is none."""
    tls = certified("127.0.0.1")
    _, (cut,) = several(tls, [b"HTTP/1.1 20", step.CLOSE], verify=False)
    assert (cut.failure, cut.response) == (Failure.TRUNCATED, None)
    _, (cut,) = several(tls, [wire.head(content_length=9) + b"abc", step.CLOSE], verify=False)
    assert (cut.failure, cut.stream.body()) == (Failure.TRUNCATED, b"abc")
    _, (whole,) = several(tls, [wire.head() + b"abc", step.CLOSE], verify=False)
    assert (whole.failure, whole.framed, whole.stream.body()) == (None, False, b"abc")


def test_large_bodies(several: Any, certified: Any, wire: Any) -> None:
    """Megabytes in many records; of a stream what is decoded is dropped, so its end is what is left."""
    body = b"".join(number.to_bytes(4) for number in range(1_280_000))
    _, (exchange,) = several(certified("127.0.0.1"), [wire.sized(body)], verify=False)
    assert exchange.stream.bytes == len(body)
    # pytest takes minutes to show how megabytes differ.
    assert body.endswith(exchange.stream.body()), "the bytes are others, or in another order"
    stamps = exchange.stream._moments
    assert stamps == sorted(stamps)
    assert exchange.sent_ns <= stamps[0]
    assert stamps[-1] <= exchange.ended_ns


def test_closing_does_not_wait_for_the_server(
    run: Any, serve: Any, connect: Any, ask: Any, certified: Any, wire: Any
) -> None:
    """A server may be slow to say good-bye; the socket is closed when the transport says so."""

    async def scenario() -> tuple[int, int]:
        watched = asyncio.get_running_loop()._selector.get_map()  # type: ignore[attr-defined]
        async with serve([wire.sized(b"abc")], tls=certified("127.0.0.1")) as server:
            async with connect(server.url, verify=False) as transport:
                await ask(transport)
                before = len(watched)
            return before, len(watched)

    before, after = run(scenario())
    assert after < before


@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3])
@pytest.mark.parametrize("waits", [True, False])
def test_keys_change_in_mid_stream(
    several: Any, certified: Any, wire: Any, version: ssl.TLSVersion, *, waits: bool
) -> None:
    """The server renegotiates, or asks for other keys: no byte is lost, and the connection is used again.

    A request that meets the change is sent on another connection.
    """
    openssl = ctypes.CDLL(_ssl.__file__)

    async def change_keys(writer: Any) -> None:
        native = writer.get_extra_info("ssl_object")._sslobj
        connection = ctypes.c_void_p.from_address(id(native) + 3 * ctypes.sizeof(ctypes.c_void_p))
        if version is ssl.TLSVersion.TLSv1_2:
            changed = openssl.SSL_renegotiate(connection)
        else:
            changed = openssl.SSL_key_update(connection, 1)
        assert changed == 1
        writer.write(wire.chunk(b"d"))
        is_changing = (openssl.SSL_renegotiate_pending, openssl.SSL_in_init)
        while waits and any(ask(connection) for ask in is_changing):  # noqa: ASYNC110
            await asyncio.sleep(0.002)

    tls = certified("127.0.0.1")
    tls.minimum_version = tls.maximum_version = version
    script = [wire.head(transfer_encoding="chunked"), *map(wire.chunk, [b"ab", b"c"])]
    server, exchanges = several(tls, *[[*script, change_keys, wire.chunk(b"")]] * 9, verify=False)
    assert [(each.failure, each.stream.body()) for each in exchanges] == [(None, b"abcd")] * 9
    assert server.connections == 1 or not waits


def test_a_request_while_keys_are_being_changed(
    several: Any, certified: Any, wire: Any, transport_kind: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing of the request has left, and another connection carries the request."""
    encrypt, meets = TLSLayer.encrypt, iter([False, True])

    def encrypted(layer: TLSLayer, data: bytes) -> bytes:
        if next(meets, False):
            raise ssl.SSLWantReadError
        return encrypt(layer, data)

    monkeypatch.setattr(TLSLayer, "encrypt", encrypted)
    server, exchanges = several(certified("127.0.0.1"), *[[wire.chunked(b"abc")]] * 2, verify=False)
    assert [(each.failure, each.stream.body()) for each in exchanges] == [(None, b"abc")] * 2
    assert server.connections == 1 + (transport_kind.make is InterpretedTransport)


def test_bytes_that_make_no_record(several: Any, certified: Any, wire: Any, transport_kind: Any) -> None:
    """The failure names the fault of the record, unless aiohttp hides the fault."""

    async def damage(writer: Any) -> None:
        with socket.socket(fileno=os.dup(writer.get_extra_info("socket").fileno())) as copy:
            copy.send(b"\x17\x03\x03\x00\x20" + b"x" * 32)

    script = [wire.head(content_length=9) + b"abc", damage]
    _, (exchange,) = several(certified("127.0.0.1"), script, verify=False)
    assert (exchange.failure, exchange.stream.body()) == (Failure.TRUNCATED, b"abc")
    assert "bad record mac" in exchange.message or transport_kind.make is AiohttpTransport
