"""The contract of transports, which carry requests and responses, and the table of transports."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Literal, Protocol

from workloads.registry import at

if TYPE_CHECKING:
    from collections.abc import Callable

    from loadgen.driver.client.endpoint import Endpoint, Request
    from loadgen.driver.client.exchange import Exchange


class Transport(Protocol):
    """Carries requests to one endpoint."""

    endpoint: Endpoint

    async def send(self, request: Request, exchange: Exchange) -> None:
        """Send one request; return when the exchange is finished. Cancelling gives the request up.

        Every failure is reported to the exchange; nothing is raised for one.
        """

    async def caught_up(self) -> int | None:
        """Pass on all received data; return the moment up to which none is missing, ns of CLOCK_MONOTONIC.

        None where this transport cannot tell.
        """

    async def close(self) -> None:
        """Close all connections."""


TRANSPORTS: Final = {
    "native": "loadgen.driver.client.http_transport:HttpTransport",
    "python": "loadgen.driver.client.http_transport:InterpretedTransport",
    "aiohttp": "loadgen.driver.client.aiohttp_transport:AiohttpTransport",
}
"""Loaded on use: each is called with an endpoint and `Timeouts`."""

MEASURES_BEST: Final = next(iter(TRANSPORTS))
"""The default."""

CANNOT_OPEN_AHEAD: Final = frozenset({"aiohttp"})

if TYPE_CHECKING:
    TransportName = str
else:
    TransportName = Literal[tuple(TRANSPORTS)]


def load_transport(name: str) -> Callable[..., Any]:
    """Import a transport."""
    transport: Callable[..., Any] = at(TRANSPORTS[name])
    return transport
