"""The table of transports, by the names that `--transport` takes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Literal

from workloads.place import at

if TYPE_CHECKING:
    from collections.abc import Callable

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
