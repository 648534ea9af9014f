"""One attempt: what may run between the end of a response and the judgement of its answer."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

from loadgen.driver.client.exchange import Exchange
from loadgen.driver.client.failure import Failure
from loadgen.driver.client.head import Head
from loadgen.driver.errors import RequestFailedError
from loadgen.driver.requests.attempt import attempt_request

if TYPE_CHECKING:
    from collections.abc import Iterator


class SlicedStream:
    """An answer that is decoded in three slices, and turns out to be broken."""

    bytes = 0

    def start(self, **_: Any) -> None:
        """Take the head."""

    def decode(self) -> Iterator[None]:
        """Decode slice by slice."""
        yield from (None, None, None)
        raise RequestFailedError(Failure.TRUNCATED, "cut")

    def is_cut(self, **_: Any) -> bool:
        """Not by the end of the connection."""
        return False


@pytest.mark.parametrize("chunked", [False, True])
def test_a_length_is_proven_before_another_request_may_have_the_connection(*, chunked: bool) -> None:
    """What ends where its Content-Length says is decoded at once; what has chunks lets others run."""
    order: list[str] = []

    class Transport:
        async def send(self, _: Any, exchange: Exchange) -> None:
            exchange.head(
                Head(200, (), ok=True, event_stream=True, encoding="", chunked=chunked, until_close=False), 1
            )
            exchange.ended(2, framed=True)
            exchange.drop_connection = lambda: order.append("closed")

    async def other() -> None:
        order.append("another request")

    async def scenario() -> RequestFailedError | None:
        stream: Any = SlicedStream()
        exchange = Exchange(stream, lambda _: None, lambda _: None)
        transport: Any = Transport()
        request: Any = None
        waiting = asyncio.create_task(other())
        error = await attempt_request(transport, request, exchange)
        await waiting
        return error

    error = asyncio.run(scenario())
    assert error is not None
    assert error.failure == Failure.TRUNCATED
    assert order == (["another request", "closed"] if chunked else ["closed", "another request"])
