"""HTTP proxies that the environment names (`http_proxy`, `https_proxy`, `no_proxy`)."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.request import getproxies, proxy_bypass

if TYPE_CHECKING:
    from loadgen.driver.client.endpoint import Endpoint


def proxy_address(endpoint: Endpoint) -> str | None:
    """Return the address of the proxy for an endpoint, which may hold a password; None without one."""
    address = getproxies().get(endpoint.scheme)
    return None if not address or proxy_bypass(f"{endpoint.host}:{endpoint.port}") else address


def ignored_proxy(endpoint: Endpoint) -> str:
    """Return a remark on the proxy for an endpoint, for transports that use none; empty without one."""
    if proxy_address(endpoint) is None:
        return ""
    return f"{endpoint.scheme}_proxy is set, and only --transport aiohttp uses it"
