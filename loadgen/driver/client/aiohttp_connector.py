"""Where aiohttp's connections come from: observed sockets, and none that the server has given up."""

from __future__ import annotations

import socket
import time
from typing import TYPE_CHECKING, Final
from weakref import WeakValueDictionary

import aiohttp

from loadgen.driver.client.aiohttp_request import CURRENT, abort
from loadgen.driver.client.observed_socket import ObservedSocket

if TYPE_CHECKING:
    import ssl

    from aiohttp.abc import ResolveResult
    from aiohttp.connector import Connection
    from aiohttp.tracing import Trace

_FOR_EVER_S: Final = 1e9


class Connector(aiohttp.TCPConnector):
    """Opens observed sockets, as many as are asked for, and hands none out that the server has given up."""

    def __init__(self, *, ssl: ssl.SSLContext | bool, keep_alive: bool) -> None:
        super().__init__(
            ssl=ssl,
            limit=0,
            **({"keepalive_timeout": _FOR_EVER_S} if keep_alive else {"force_close": True}),
            resolver=_Resolver(),
            ttl_dns_cache=None,
            happy_eyeballs_delay=None,
            socket_factory=self._socket,
        )
        self._by_descriptor: WeakValueDictionary[int, ObservedSocket] = WeakValueDictionary()
        self._unasked = 0

    async def connect(
        self,
        req: aiohttp.ClientRequest,
        traces: list[Trace],
        timeout: aiohttp.ClientTimeout,  # noqa: ASYNC109 (the signature is aiohttp's)
    ) -> Connection:
        """Connect for the request at hand, or raise `aiohttp.ClientError`."""
        errand, others = CURRENT.get(), []
        while True:
            try:
                connection = await super().connect(req, traces, timeout)
            except aiohttp.ClientConnectorError:
                # The host may have moved.
                self.clear_dns_cache()
                raise
            protocol, transport = connection.protocol, connection.transport
            if protocol is None or transport is None:
                connection.close()
                raise aiohttp.ServerDisconnectedError
            sock = self._by_descriptor[transport.get_extra_info("socket").fileno()]
            if sock.used and sock.is_stale():
                abort(transport)
                connection.close()
            elif sock.used and errand.retried:
                others.append(connection)
            else:
                unasked, self._unasked = self._unasked, 0
                errand.take(sock, protocol, transport, unasked)
                for other in others:
                    other.release()
                return connection

    def _socket(self, address: aiohttp.AddrInfoType) -> ObservedSocket:
        family, kind, protocol, _, _ = address
        sock = ObservedSocket(family, kind, protocol)
        sock.stamp_arrivals()
        sock.count_unasked = self._count_unasked
        self._by_descriptor[sock.fileno()] = CURRENT.get().sock = sock
        return sock

    def _count_unasked(self) -> None:
        self._unasked += 1


class _Resolver(aiohttp.ThreadedResolver):
    """The system's resolver, with the time of each lookup."""

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list[ResolveResult]:
        """Look a host up."""
        started_ns = time.monotonic_ns()
        addresses = await super().resolve(host, port, family)
        CURRENT.get().dns_ms = (time.monotonic_ns() - started_ns) / 1e6
        return addresses
