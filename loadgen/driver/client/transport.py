"""What carries a request to the endpoint and its response back: the contract that every transport keeps."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from loadgen.driver.client.endpoint import Endpoint, Request
    from loadgen.driver.client.exchange import Exchange


class Transport(Protocol):
    """Who carries requests to one endpoint."""

    endpoint: Endpoint

    async def send(self, request: Request, exchange: Exchange) -> None:
        """Send one request; return when the exchange is finished. Cancelling gives the request up.

        Every failure is reported to the exchange; nothing is raised for one.
        """

    async def caught_up(self) -> int | None:
        """Pass on what has arrived; return the moment up to which all had, ns of CLOCK_MONOTONIC.

        None where this transport cannot tell.
        """

    async def close(self) -> None:
        """Close what is open."""
