"""The measured transport: keep-alive connections over plain sockets that know when bytes arrived."""

from __future__ import annotations

import asyncio
import errno
import socket
import ssl
import time
from typing import TYPE_CHECKING, Any, Final

from loadgen.client.arrival import StampingSocket
from loadgen.client.connection import Connection
from loadgen.client.exchange import Exchange, Setup
from loadgen.client.failure import Failure, RequestFailedError

if TYPE_CHECKING:
    from loadgen.client.endpoint import Endpoint
    from loadgen.client.transport import Request

CONNECT_TIMEOUT_S: Final = 10.0
"""For TCP and TLS handshake together."""

_OUT_OF: Final = frozenset({errno.EMFILE, errno.ENFILE, errno.EADDRNOTAVAIL, errno.ENOBUFS})

Address = tuple[int, Any]
"""Socket family and address."""


class HttpTransport:
    """Sends requests to one endpoint.

    Connections are opened as they are needed and kept; the one used last is used first.

    Args:
        endpoint: Where to.
        timeout_s: From the call to the end of the response.
    """

    def __init__(self, endpoint: Endpoint, timeout_s: float) -> None:
        self.endpoint = endpoint
        self._timeout_s = timeout_s
        self._idle: list[Connection] = []
        self._addresses: list[Address] = []
        self._resolving = asyncio.Lock()
        self._tls = _tls_context(endpoint)

    async def send(self, request: Request, exchange: Exchange) -> None:
        """Send one request; return when the exchange is finished.

        Nothing is retried. Cancelling closes the connection and leaves the exchange unfinished.
        """
        connection: Connection | None = None
        try:
            async with asyncio.timeout(self._timeout_s):
                connection, exchange.setup = await self._connection()
                connection.request(self.endpoint.http1(request), exchange)
                await exchange.finished
        except RequestFailedError as error:
            exchange.failed(error.failure, str(error), time.monotonic_ns())
        except TimeoutError:
            exchange.failed(
                Failure.TOTAL_TIMEOUT,
                f"no complete response within {self._timeout_s:g} s (--timeout)",
                time.monotonic_ns(),
            )
        finally:
            if connection is not None:
                self._release(connection, exchange)

    async def close(self) -> None:
        """Close the idle connections."""
        while self._idle:
            self._idle.pop().close()
        # The transports close on the next turn of the loop.
        await asyncio.sleep(0)

    def _release(self, connection: Connection, exchange: Exchange) -> None:
        if exchange.ended_ns is not None and exchange.failure is None and connection.reusable:
            self._idle.append(connection)
        else:
            connection.close()

    async def _connection(self) -> tuple[Connection, Setup]:
        while self._idle:
            connection = self._idle.pop()
            if connection.reusable and not connection.is_stale():
                return connection, Setup(reused=True)
            connection.close()
        try:
            async with asyncio.timeout(CONNECT_TIMEOUT_S):
                return await self._connect()
        except TimeoutError as error:
            raise RequestFailedError(
                Failure.CONNECT_TIMEOUT,
                f"no connection to {self._where} within {CONNECT_TIMEOUT_S:g} s",
            ) from error

    async def _connect(self) -> tuple[Connection, Setup]:
        dns_ms = None
        async with self._resolving:
            if not self._addresses:
                started = time.monotonic()
                self._addresses = await self._resolve()
                dns_ms = _since_ms(started)
        refusal: OSError | None = None
        for number, (family, address) in enumerate(list(self._addresses)):
            sock = _socket(family, self._where)
            try:
                started = time.monotonic()
                await asyncio.get_running_loop().sock_connect(sock, address)
                connect_ms = _since_ms(started)
                connection, tls_ms = await self._wrap(sock)
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
            return connection, Setup(reused=False, dns_ms=dns_ms, connect_ms=connect_ms, tls_ms=tls_ms)
        self._addresses = []
        raise _refused(refusal, self._where)

    async def _resolve(self) -> list[Address]:
        try:
            found = await asyncio.get_running_loop().getaddrinfo(
                self.endpoint.host,
                self.endpoint.port,
                type=socket.SOCK_STREAM,
            )
        except (socket.gaierror, UnicodeError) as error:
            raise RequestFailedError(Failure.DNS, f"{self.endpoint.host} has no address ({error})") from error
        return [(family, address) for family, _, _, _, address in found]

    async def _wrap(self, sock: StampingSocket) -> tuple[Connection, float | None]:
        """Put the protocol, and TLS where it is asked for, onto a connected socket."""
        started = time.monotonic()
        try:
            _, connection = await asyncio.get_running_loop().create_connection(
                lambda: Connection(sock),
                sock=sock,
                ssl=self._tls,
                server_hostname=self.endpoint.host if self._tls else None,
            )
        except (ssl.SSLError, ConnectionError) as error:
            raise RequestFailedError(Failure.TLS, f"no TLS with {self._where}: {error}") from error
        return connection, _since_ms(started) if self._tls else None

    @property
    def _where(self) -> str:
        return f"{self.endpoint.host}:{self.endpoint.port}"


def _socket(family: int, where: str) -> StampingSocket:
    try:
        sock = StampingSocket(family, socket.SOCK_STREAM)
    except OSError as error:
        raise _refused(error, where) from error
    sock.settimeout(0)
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    sock.stamp_arrivals()
    return sock


def _refused(error: OSError | None, where: str) -> RequestFailedError:
    if error is not None and error.errno in _OUT_OF:
        return RequestFailedError(
            Failure.CLIENT_LIMIT,
            f"this machine cannot open another connection to {where} ({error.strerror}); "
            "raise `ulimit -n` or lower the load",
        )
    why = f" ({error.strerror or error})" if error is not None else ""
    return RequestFailedError(Failure.REFUSED, f"no connection to {where}{why}")


def _tls_context(endpoint: Endpoint) -> ssl.SSLContext | None:
    if endpoint.scheme != "https":
        return None
    context = ssl.create_default_context()
    if not endpoint.verify:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    return context


def _since_ms(started: float) -> float:
    return round((time.monotonic() - started) * 1e3, 4)
