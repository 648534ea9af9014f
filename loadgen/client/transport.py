"""What carries a request to the endpoint and its response back: the contract that every transport keeps."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from loadgen.client.endpoint import Endpoint
    from loadgen.client.exchange import Exchange


class Request(NamedTuple):
    """What is asked.

    Attributes:
        method: `GET` or `POST`.
        path: The operation, below the endpoint's prefix.
        request_id: Travels as `X-Request-Id`.
        body: JSON; empty for none.
    """

    method: str
    path: str
    request_id: str
    body: bytes = b""


class Transport(Protocol):
    """Who carries requests to one endpoint."""

    endpoint: Endpoint

    async def send(self, request: Request, exchange: Exchange) -> None:
        """Send one request; return when the exchange is finished. Cancelling gives the request up.

        Every failure is told to the exchange; nothing is raised for one.
        """

    async def close(self) -> None:
        """Close what is open."""
