"""Where the system is not Linux everything works, by other means: here they are used on purpose."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from loadgen.driver.client import arrival, ready
from loadgen.driver.client.endpoint import endpoint
from loadgen.driver.client.http_transport import InterpretedTransport
from loadgen.driver.client.ready import Ready
from loadgen.driver.client.timeouts import Timeouts
from loadgen.driver.system import clock

if TYPE_CHECKING:
    import ssl
    from collections.abc import Callable

    from loadgen.driver.client.exchange import Exchange

LARGE = b"x" * (4 * 2**20)
"""A request body that no socket buffer takes at once."""


@pytest.fixture(autouse=True)
def elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    """No kernel stamps, no epoll of our own, no timerfd, no TCP_INFO."""
    for module in (arrival, clock, ready):
        monkeypatch.setattr(module, "LINUX", False)


@pytest.fixture
def several(run: Any, serve: Any, ask: Any) -> Callable[..., tuple[Any, list[Exchange]]]:
    """Send a request for each script, one after the other; the server and the exchanges."""

    def several(*scripts: Any, body: bytes = b"{}", tls: ssl.SSLContext | None = None, **server: Any) -> Any:
        async def scenario() -> tuple[Any, list[Exchange]]:
            async with serve(*scripts, tls=tls, **server) as served:
                transport = InterpretedTransport(endpoint(served.url, {}, verify=False), Timeouts(10))
                exchanges = [await ask(transport, body) for _ in scripts]
                assert type(transport._reader) is Ready
                await transport.close()
                return served, exchanges

        return run(scenario())

    return several


@pytest.mark.parametrize("secure", [False, True])
def test_requests_one_after_the_other(several: Any, certified: Any, wire: Any, *, secure: bool) -> None:
    """In pieces, over one connection, in order."""
    whole = wire.chunked(wire.TOKEN, wire.TOKEN, wire.DONE)
    pieces = [piece for cut in range(0, len(whole), 50) for piece in (whole[cut : cut + 50], 0.001)]
    server, exchanges = several(pieces, pieces, tls=certified("127.0.0.1") if secure else None)
    assert server.connections == 1
    for exchange in exchanges:
        assert exchange.failure is None
        assert exchange.stream.body() == wire.TOKEN + wire.TOKEN + wire.DONE
        assert exchange.sent_ns <= exchange.first_byte_ns <= exchange.stream.last_ns <= exchange.ended_ns


def test_a_large_request(several: Any, wire: Any) -> None:
    """It is sent when its last byte is, however long the server takes to read it."""
    server, (exchange,) = several([wire.sized(b"abc")], body=LARGE)
    assert exchange.stream.body() == b"abc"
    assert server.requests[0].endswith(LARGE)


def test_the_server_gives_up_a_connection(several: Any, wire: Any, step: Any) -> None:
    """The next request opens another one."""
    server, exchanges = several([wire.chunked(b"abc"), step.CLOSE], [wire.chunked(b"def")])
    assert server.connections == 2
    assert [exchange.stream.body() for exchange in exchanges] == [b"abc", b"def"]


def test_the_log_says_who_stamps() -> None:
    """And the clock is one that any system has."""
    assert arrival.timestamp_source() == "read"
    assert type(clock.system_clock()) is clock.Clock
