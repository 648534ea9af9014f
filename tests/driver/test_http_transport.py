"""What only the measured transport can meet: a connection that is there just when time is over."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from loadgen.driver.client import chat_completions
from loadgen.driver.client.endpoint import Request, endpoint
from loadgen.driver.client.exchange import Exchange
from loadgen.driver.client.failure import Failure
from loadgen.driver.client.http_transport import HttpTransport
from loadgen.driver.client.stream import ResponseStream
from loadgen.driver.client.timeouts import Timeouts

if TYPE_CHECKING:
    import pytest


def test_nothing_is_sent_once_the_time_is_over(
    run: Any, serve: Any, step: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The connection is closed unused: what has failed is not sent, nor reported as sent."""
    payload: list[Any] = []

    async def scenario() -> tuple[Exchange, list[bytes]]:
        async with serve([step.HANG]) as server:
            transport = HttpTransport(endpoint(server.url, {}), Timeouts(60))
            exchange = Exchange(ResponseStream(chat_completions), payload.append, payload.append)
            open_one = transport._open

            async def opened(limit: Any) -> Any:
                result = await open_one(limit)
                transport._late(exchange, asyncio.get_running_loop().time())
                return result

            monkeypatch.setattr(transport, "_open", opened)
            await transport.send(Request("POST", "/chat/completions", "an-id", b"{}"), exchange)
            await server.hung_up.wait()
            await transport.close()
            return exchange, server.requests

    exchange, requests = run(scenario())
    assert (exchange.failure, exchange.sent_ns) == (Failure.TOTAL_TIMEOUT, None)
    assert (requests, payload) == ([], [])
