"""Opening connections: looking the host up, the TCP handshake, the TLS handshake, each measured apart."""

from __future__ import annotations

import asyncio
import errno
import os
import socket
import ssl
import time
from typing import TYPE_CHECKING, Any, Final

from loadgen.driver.client.arrival import StampingSocket
from loadgen.driver.client.exchange import Setup
from loadgen.driver.client.failure import Failure
from loadgen.driver.client.timeouts import TICKS, Deadlines, TimeLimit
from loadgen.driver.errors import RequestFailedError
from loadgen.driver.system.linux import LINUX

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from loadgen.driver.client.endpoint import Endpoint
    from loadgen.driver.client.timeouts import Timeouts
    from loadgen.driver.client.tls import TLSLayer

    Address = tuple[int, Any]
    """Socket family and address."""

    Dialed = tuple[StampingSocket, TLSLayer | None, Setup]
    """A connected socket, its TLS where it has one, and what it took."""

    Connect = Callable[[StampingSocket, Any], Awaitable[int]]
    """Connects a socket that does not block to an address; returns since when, ns of CLOCK_MONOTONIC."""

_OUT_OF: Final = frozenset({errno.EMFILE, errno.ENFILE, errno.EADDRNOTAVAIL, errno.ENOBUFS})
_HANDSHAKE_BYTES: Final = 16 * 1024


async def loop_connect(sock: StampingSocket, address: Any) -> int:
    """Connect a socket by the event loop."""
    await asyncio.get_running_loop().sock_connect(sock, address)
    return time.monotonic_ns()


class Dialer:
    """Opens connections to one endpoint. The host is looked up once, by the first connection."""

    def __init__(self, endpoint: Endpoint, timeouts: Timeouts) -> None:
        self._endpoint = endpoint
        self._timeouts = timeouts
        #: Of the time limit of a `dial`.
        self.ticks = Deadlines(timeouts.connect_timeout_s / TICKS, TimeLimit.tick)
        self.where = f"{endpoint.host}:{endpoint.port}"
        # For a text `socket.getaddrinfo` imports the encoding of other names, which takes a millisecond.
        self._host = endpoint.host.encode() if endpoint.host.isascii() else endpoint.host
        self._addresses: list[Address] = []
        self._resolving = asyncio.Lock()
        self.tls: ssl.SSLContext | None = None
        self.in_c = endpoint.scheme == "http"  #: whether compiled code can read the connections
        if endpoint.scheme.endswith("s"):
            from loadgen.driver.client.tls import is_compiled, tls_context

            self.tls = tls_context(endpoint)
            self.in_c = endpoint.scheme == "https" and is_compiled(self.tls)
        remark = ignored_proxy(endpoint)
        self._hint = remark and f"; {remark}"

    async def dial(self, connect: Connect = loop_connect, limit: TimeLimit | None = None) -> Dialed:
        """Open a connection, or raise `dns`, `refused`, `tls`, `connect_timeout` or `client_limit`."""
        try:
            with limit or TimeLimit(self.ticks):
                return await self._dial(connect)
        except TimeoutError as error:
            message = self._timeouts.unconnected(self.where) + self._hint
            raise RequestFailedError(Failure.CONNECT_TIMEOUT, message) from error
        except RequestFailedError as error:
            raise RequestFailedError(error.failure, f"{error}{self._hint}") from error

    async def _dial(self, connect: Connect) -> Dialed:
        dns_ms = None
        if not self._addresses:
            async with self._resolving:
                self._addresses = self._addresses or self._literal()
                if not self._addresses:
                    started = time.monotonic()
                    self._addresses = await self._resolve()
                    dns_ms = _since_ms(started)
        refusal: OSError | None = None
        for number, (family, address) in enumerate(list(self._addresses)):
            sock = self._socket(family)
            try:
                started_ns = time.monotonic_ns()
                connect_ms = (await connect(sock, address) - started_ns) / 1e6
                tls, tls_ms = (None, None) if self.tls is None else await self._secure(sock, self.tls)
            except OSError as error:
                sock.close()
                refusal = error
                continue
            except BaseException:
                sock.close()
                raise
            if number:
                # The next connection need not try in vain what this one did.
                self._addresses = [(family, address)]
            return sock, tls, Setup(reused=False, dns_ms=dns_ms, connect_ms=connect_ms, tls_ms=tls_ms)
        self._addresses = []
        raise refused(refusal, self.where)

    def _literal(self) -> list[Address]:
        """The address of a host given as an address: no lookup is needed."""
        try:
            addresses = socket.getaddrinfo(
                *(self._host, self._endpoint.port),
                type=socket.SOCK_STREAM,
                flags=socket.AI_NUMERICHOST,
            )
        except (socket.gaierror, UnicodeError):
            return []
        return [(family, address) for family, _, _, _, address in addresses]

    async def _resolve(self) -> list[Address]:
        try:
            addresses = await asyncio.get_running_loop().getaddrinfo(
                self._host, self._endpoint.port, type=socket.SOCK_STREAM
            )
        except (socket.gaierror, UnicodeError) as error:
            raise RequestFailedError(Failure.DNS, no_address(self._endpoint.host, error)) from error
        return [(family, address) for family, _, _, _, address in addresses]

    async def _secure(self, sock: StampingSocket, context: ssl.SSLContext) -> tuple[TLSLayer, float]:
        """Perform the TLS handshake."""
        from loadgen.driver.client.tls import TLSLayer, explained

        started = time.monotonic()
        loop = asyncio.get_running_loop()
        try:
            tls = TLSLayer(context, self._endpoint.host)
            reply, complete = tls.handshake()
            while True:
                await loop.sock_sendall(sock, reply)
                if complete:
                    return tls, _since_ms(started)
                received = await loop.sock_recv(sock, _HANDSHAKE_BYTES)
                reply, complete = tls.handshake(received)
        except (ssl.SSLError, ValueError, ConnectionError) as error:
            raise RequestFailedError(Failure.TLS, f"no TLS with {self.where}: {explained(error)}") from error

    def _socket(self, family: int) -> StampingSocket:
        try:
            sock = StampingSocket(family, socket.SOCK_STREAM)
        except OSError as error:
            raise refused(error, self.where) from error
        sock.settimeout(0)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        sock.stamp_arrivals()
        return sock


def refused(error: OSError | None, where: str) -> RequestFailedError:
    """Why there is no TCP connection: no process listens, or this machine has no port or descriptor left."""
    if error is not None and error.errno in _OUT_OF:
        return RequestFailedError(
            Failure.CLIENT_LIMIT,
            f"the machine cannot open another connection to {where} ({error.strerror}); raise `ulimit -n` "
            "or lower the load",
        )
    why = "" if error is None else f" ({os.strerror(error.errno) if error.errno else error})"
    return RequestFailedError(Failure.REFUSED, f"no connection to {where}{why}")


def no_address(host: str, why: Exception) -> str:
    """The message about a host whose name cannot be resolved."""
    strerror = why.strerror if isinstance(why, OSError) else None
    return f"{host} has no address ({strerror or why})"


def _since_ms(started: float) -> float:
    return (time.monotonic() - started) * 1e3


def proxy_address(endpoint: Endpoint) -> str | None:
    """Return the address of the proxy for an endpoint, which may hold a password; None without one."""
    # On Linux only the environment names proxies; importing what reads it delays the first request by 8 ms.
    if LINUX and not any(name.lower().endswith("_proxy") for name in os.environ):
        return None
    from urllib.request import getproxies, proxy_bypass

    address = getproxies().get(endpoint.scheme)
    return None if not address or proxy_bypass(f"{endpoint.host}:{endpoint.port}") else address


def ignored_proxy(endpoint: Endpoint) -> str:
    """Return a remark on the proxy for an endpoint, for transports that use none; empty without one."""
    if proxy_address(endpoint) is None:
        return ""
    return f"{endpoint.scheme}_proxy is set, and only --transport aiohttp uses it"
