"""An endpoint under `loadgen check`, for the checks of plug-ins."""

from __future__ import annotations

from secrets import token_hex
from typing import TYPE_CHECKING, Any

from lazy_dataclasses import dataclass
from loadgen.driver.client.endpoint import JSON, Request
from loadgen.driver.client.exchange import Exchange
from loadgen.driver.client.stream import ResponseStream

if TYPE_CHECKING:
    from collections.abc import Callable

    from loadgen.driver.client.codec import Codec, Generation
    from loadgen.driver.client.endpoint import Endpoint
    from loadgen.driver.client.transport import Transport


@dataclass(frozen=True, slots=True)
class CheckedEndpoint:
    """An endpoint that has answered a short question.

    Attributes:
        protocol: The protocol that it answers.
        transport: The connections to it.
        codec: The codec of the protocol.
        generation: The model.
        opened: Opens connections to another base URL.
    """

    protocol: str
    transport: Transport
    codec: Codec
    generation: Generation
    opened: Callable[[Endpoint], Transport]

    def exchange(self, on_first_token: Callable[[Any], None] = lambda _: None) -> Exchange:
        """The observer of a request."""
        return Exchange(ResponseStream(self.codec), on_sent=lambda _: None, on_first_token=on_first_token)

    async def status_of(self, path: str, body: bytes, content_type: str = JSON) -> int | None:
        """The status of the response to a body; None without a response."""
        exchange = self.exchange()
        request = Request("POST", path, token_hex(12), body)._replace(content_type=content_type)
        await self.transport.send(request, exchange)
        return exchange.response.status if exchange.response else None
