"""Where the key goes: to the server that was named, once it has proved who it is, and to no other."""

from __future__ import annotations

import datetime as dt
import ssl
from typing import TYPE_CHECKING, Any

import pytest

from loadgen.driver.client.aiohttp_transport import AiohttpTransport
from loadgen.driver.client.endpoint import endpoint
from loadgen.driver.client.failure import Failure
from loadgen.driver.client.timeouts import Timeouts

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    import trustme

    from loadgen.driver.client.exchange import Exchange

KEY = {"Authorization": "Bearer sk-very-secret", "Cookie": "id=0123456789"}
NOW = dt.datetime.now(dt.UTC)
A_DAY = dt.timedelta(days=1)


@pytest.fixture
def trusted(authority: trustme.CA, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """This process trusts the authority."""
    authority.cert_pem.write_to_path(tmp_path / "ca.pem")
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "ca.pem"))


@pytest.fixture
def certificates(authority: trustme.CA) -> dict[str, Callable[[], trustme.LeafCert]]:
    """Certificates with which something is wrong."""
    import trustme

    return {
        "untrusted": lambda: trustme.CA().issue_cert("127.0.0.1"),
        "other": lambda: authority.issue_cert("elsewhere.example"),
        "expired": lambda: authority.issue_cert(
            "127.0.0.1", not_before=NOW - 2 * A_DAY, not_after=NOW - A_DAY
        ),
        "early": lambda: authority.issue_cert("127.0.0.1", not_before=NOW + A_DAY, not_after=NOW + 2 * A_DAY),
    }


@pytest.mark.usefixtures("trusted")
@pytest.mark.parametrize(
    ("which", "remedy"),
    [
        ("untrusted", "trust the issuer (SSL_CERT_FILE"),
        ("other", "use a host name from the server's certificate"),
        ("expired", "expired: renew the certificate"),
        ("early", "compare the clocks"),
    ],
)
def test_nothing_is_sent_before_a_server_is_trusted(
    run: Any, serve: Any, connect: Any, ask: Any, wire: Any, certificates: Any, which: str, remedy: str
) -> None:
    """The failure is `tls`, its message says what to do, and the server has heard no word of a request."""
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    certificates[which]().configure_cert(tls)

    async def scenario() -> tuple[list[bytes], Exchange]:
        async with (
            serve([wire.sized(b"abc")], tls=tls) as server,
            connect(server.url, headers=KEY) as transport,
        ):
            return server.requests, await ask(transport)

    requests, exchange = run(scenario())
    assert exchange.failure == Failure.TLS
    assert remedy in exchange.message
    assert requests == []


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_no_redirect_takes_the_key_elsewhere(
    run: Any, serve: Any, connect: Any, ask: Any, wire: Any, status: int
) -> None:
    """Nor to the same server: what another place answers is not what was to be measured."""

    async def scenario() -> tuple[list[bytes], list[bytes], Exchange]:
        async with serve([wire.sized(b"abc")]) as elsewhere:
            place = f"{elsewhere.url}/v1/chat/completions"
            async with serve([wire.sized(b"", status, location=place)]) as server:
                async with connect(server.url, headers=KEY) as transport:
                    exchange = await ask(transport)
                return server.requests, elsewhere.requests, exchange

    asked, asked_elsewhere, exchange = run(scenario())
    assert [request.count(b"sk-very-secret") for request in asked] == [1]
    assert asked_elsewhere == []
    assert exchange.response.status == status


@pytest.mark.usefixtures("trusted")
@pytest.mark.parametrize(
    "answer", [b"HTTP/1.1 403 no\r\n\r\n", b"HTTP/1.1 407 who?\r\nProxy-Authenticate: Basic\r\n\r\n"]
)
def test_a_proxy_hears_no_key(
    run: Any, serve: Any, ask: Any, step: Any, monkeypatch: pytest.MonkeyPatch, answer: bytes
) -> None:
    """Of a request over TLS it learns where to, also where it refuses; the rest goes through the tunnel."""

    async def scenario() -> tuple[list[bytes], Exchange]:
        async with serve([answer, step.CLOSE]) as proxy:
            monkeypatch.setenv("https_proxy", proxy.url)
            transport = AiohttpTransport(endpoint("https://elsewhere.invalid", KEY), Timeouts(10))
            exchange = await ask(transport)
            await transport.close()
            return proxy.requests, exchange

    requests, exchange = run(scenario())
    assert requests
    assert [request for request in requests if b"secret" in request or b"0123456789" in request] == []
    assert exchange.failure == Failure.REFUSED
