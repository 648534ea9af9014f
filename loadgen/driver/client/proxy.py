"""The proxy between this machine and an endpoint."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.request import getproxies, proxy_bypass

from yarl import URL

from loadgen.driver.client.failure import Failure
from loadgen.driver.errors import RequestFailedError

if TYPE_CHECKING:
    from loadgen.driver.client.endpoint import Endpoint


def proxy_of(endpoint: Endpoint) -> URL | None:
    """The proxy that the environment names for an endpoint.

    Raises:
        RequestFailedError: It is of a kind that cannot be used.
    """
    address = getproxies().get(endpoint.scheme)
    if not address or proxy_bypass(f"{endpoint.host}:{endpoint.port}"):
        return None
    proxy = URL(address if "://" in address else f"http://{address}")
    if proxy.scheme != "http":
        message = (
            f"{endpoint.scheme}_proxy names a proxy that is {proxy.scheme}://; use an http:// one, or none"
        )
        raise RequestFailedError(Failure.REFUSED, message)
    return proxy
