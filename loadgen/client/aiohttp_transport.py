"""The second transport, over aiohttp: for what the measured one does not do, such as proxies.

It keeps the same contract and tells the same failures apart, and costs several times as much. Its stamps are
the kernel's too, where there are any, but aiohttp says only afterwards that bytes have arrived: a piece of
the body has the stamp of the last read at the moment at which it is taken, so when there were several reads
by then, all their bytes have the stamp of the last. Over TLS the first byte's stamp is that of the read that
completed the head of the response.

Nothing is retried. A proxy is taken from the environment (`http_proxy`, `https_proxy`, `no_proxy`), once.
"""

from __future__ import annotations

import asyncio
import socket
import time
from contextlib import suppress
from contextvars import ContextVar
from typing import TYPE_CHECKING, Final
from urllib.request import getproxies, proxy_bypass
from weakref import WeakValueDictionary

import aiohttp
from aiohttp.http import HttpProcessingError
from yarl import URL

from loadgen.client.aiohttp_failure import cut, failure_of, malformed
from loadgen.client.bounds import MAX_HEAD_BYTES
from loadgen.client.exchange import Setup
from loadgen.client.failure import Failure, RequestFailedError
from loadgen.client.head import head
from loadgen.client.observed_body import ObservedBody
from loadgen.client.observed_socket import ObservedSocket, Passage
from loadgen.client.patience import Patience, Silence
from loadgen.client.tls import tls_context

if TYPE_CHECKING:
    import ssl

    from aiohttp.abc import ResolveResult
    from aiohttp.client_proto import ResponseHandler
    from aiohttp.connector import Connection
    from aiohttp.tracing import Trace

    from loadgen.client.endpoint import Endpoint
    from loadgen.client.exchange import Exchange
    from loadgen.client.timeouts import Timeouts
    from loadgen.client.transport import Request

_SECOND: Final = 1_000_000_000
_FOR_EVER_S: Final = 1e9
_SWITCHING_PROTOCOLS: Final = 101
_WITHOUT_BODY: Final = (204, 304)


class AiohttpTransport:
    """Sends requests to one endpoint, through aiohttp.

    Args:
        endpoint: Where to.
        timeouts: How long each part of a request may take.
    """

    def __init__(self, endpoint: Endpoint, timeouts: Timeouts) -> None:
        self.endpoint = endpoint
        self._timeouts = timeouts
        self._errands: dict[Exchange, _Errand] = {}
        self._patience = Patience(timeouts, self._errands.get, self._silent)
        self._session: aiohttp.ClientSession | None = None

    async def send(self, request: Request, exchange: Exchange) -> None:
        """Send one request; return when the exchange is finished.

        Cancelling closes the connection and leaves the exchange unfinished.
        """
        due_s = exchange.due_s
        if due_s is None:
            due_s = asyncio.get_running_loop().time() + self._timeouts.total_s
        errand = self._errands[exchange] = _Errand(exchange, asyncio.timeout_at(due_s))
        token = _errand.set(errand)
        self._patience.start(exchange)
        try:
            async with errand.limit:
                await self._carry(request, errand)
        except RequestFailedError as error:
            exchange.failed(error.failure, str(error), time.monotonic_ns())
        except TimeoutError:
            # The event loop's clock is CLOCK_MONOTONIC.
            errand.give_up(Silence(Failure.TOTAL_TIMEOUT, self._timeouts.too_late, round(due_s * _SECOND)))
        finally:
            del self._errands[exchange]
            self._patience.stop(exchange)
            _errand.reset(token)
            errand.leave()

    def _silent(self, exchange: Exchange, silence: Silence) -> None:
        """Wake up who carries a request, to have it given up."""
        errand = self._errands[exchange]
        if not errand.limit.expired():
            errand.silence = silence
            errand.limit.reschedule(0)

    async def close(self) -> None:
        """Close the connections."""
        self._patience.close()
        if self._session is not None:
            await self._session.close()
            self._session = None

    async def _carry(self, request: Request, errand: _Errand) -> None:
        """See one request through, to the end of its response.

        Raises:
            RequestFailedError: It has none.
        """
        session = self._opened()
        url = URL(f"{self.endpoint.url}{request.path}", encoded=True)
        headers = {
            "Accept": "text/event-stream, application/json",
            "Accept-Encoding": "identity",
            "X-Request-Id": request.request_id,
            **self.endpoint.headers,
        }
        response = body = None
        if request.body:
            headers["Content-Type"] = "application/json"
            body = ObservedBody(request.body, errand)
        # Without a body the head is the last of it.
        errand.last = body is None
        try:
            response = await session.request(
                request.method, url, data=body, headers=headers, allow_redirects=False
            )
            await self._receive(response, errand)
        except (aiohttp.ClientError, UnicodeError) as error:
            raise failure_of(error, self.endpoint, errand, self._timeouts) from error
        finally:
            if response is not None:
                response.close()

    async def _receive(self, response: aiohttp.ClientResponse, errand: _Errand) -> None:
        exchange, sock = errand.exchange, errand.sock
        assert sock is not None  # noqa: S101 (who answers was connected to)
        if response.status == _SWITCHING_PROTOCOLS:
            raise malformed("the server switches to another protocol")
        received = head(response.status, tuple(response.raw_headers))
        encrypted = self.endpoint.scheme == "https"
        framed = not received.until_close or response.status in _WITHOUT_BODY
        errand.answered(response.content, framed=framed)
        exchange.head(received, sock.arrival_ns if encrypted else errand.first_ns)
        try:
            while data := await response.content.readany():
                exchange.body((data,), (sock.arrival_ns,))
        except Exception:
            errand.catch_up()
            raise
        if errand.broken is not None and not framed:
            # For aiohttp any end is the end of a body without a length.
            raise cut(errand.broken, began=True)
        exchange.ended(sock.arrival_ns, framed=framed)

    def _opened(self) -> aiohttp.ClientSession:
        if self._session is None:
            self._session = aiohttp.ClientSession(
                connector=_Connector(ssl=tls_context(self.endpoint) or True),
                cookie_jar=aiohttp.DummyCookieJar(),
                timeout=aiohttp.ClientTimeout(connect=self._timeouts.connect_s),
                auto_decompress=False,
                skip_auto_headers=("User-Agent", "Content-Type"),
                # The socket counts, whatever the head is made of; aiohttp is not to be stricter.
                max_line_size=2 * MAX_HEAD_BYTES,
                max_field_size=2 * MAX_HEAD_BYTES,
                max_headers=2 * MAX_HEAD_BYTES,
                middlewares=(self._only_once,),
                proxy=_proxy(self.endpoint),
            )
        return self._session

    async def _only_once(
        self, request: aiohttp.ClientRequest, handler: aiohttp.ClientHandlerType
    ) -> aiohttp.ClientResponse:
        """Name the failure here: aiohttp sends a request again when an error of its own reaches it."""
        try:
            return await handler(request)
        except (aiohttp.ClientError, OSError) as error:
            raise failure_of(error, self.endpoint, _errand.get(), self._timeouts) from error


class _Errand(Passage):
    """What is known of one request while aiohttp has it.

    Args:
        exchange: The request's.
        limit: How long it may take.

    Attributes:
        silence: Why its time was cut short, if it was.
    """

    def __init__(self, exchange: Exchange, limit: asyncio.Timeout) -> None:
        super().__init__()
        self.exchange = exchange
        self.limit = limit
        self.silence: Silence | None = None
        self.dns_ms: float | None = None
        self.sock: ObservedSocket | None = None
        self._protocol: ResponseHandler | None = None
        self._transport: asyncio.Transport | None = None
        self._content: aiohttp.StreamReader | None = None
        self._framed = False

    def take(self, sock: ObservedSocket, protocol: ResponseHandler, transport: asyncio.Transport) -> None:
        """Have a connection: what passes through it is this request's from now on."""
        self.exchange.setup = self._setup(sock)
        self.sock, self._protocol, self._transport = sock, protocol, transport
        sock.carry(self)

    def leave(self) -> None:
        """Have it no more; unless it is fit for another request it is closed, without a farewell over TLS."""
        if self.sock is None:
            return
        if self.sock.passage is self:
            self.sock.passage = None
        whole = self.exchange.ended_ns is not None and self.exchange.failure is None and self.sent
        if self._protocol is None or self._transport is None:
            # Given up while it was being opened: asyncio may have begun a farewell, which this ends.
            with suppress(OSError):
                self.sock.shutdown(socket.SHUT_RDWR)
        elif whole and self._protocol.is_connected():
            self.exchange.forsake = self._close_if_idle
        else:
            _abort(self._transport)

    def _close_if_idle(self) -> None:
        if self.sock is not None and self.sock.passage is None and self._transport is not None:
            _abort(self._transport)

    def answered(self, content: aiohttp.StreamReader, *, framed: bool) -> None:
        """Know that the head of the response is complete, who has its body, and whether that says its end."""
        self.head, self._content, self._framed = True, content, framed

    def read_on(self) -> None:
        """Nothing: asyncio reads before it looks at the time."""

    def catch_up(self) -> None:
        """Take what had arrived before a body broke: aiohttp keeps it to itself from then on."""
        content, sock = self._content, self.sock
        if content is not None and sock is not None:
            content._exception = None  # noqa: SLF001 (nothing public hands out what was read)
            with suppress(RequestFailedError):
                if data := content.read_nowait():
                    self.exchange.body((data,), (sock.arrival_ns,))

    def give_up(self, silence: Silence) -> None:
        """End the request, whose time is over; what had arrived counts, and may be a whole response."""
        exchange, content, sock = self.exchange, self._content, self.sock
        failure, message, due_ns = self.silence or silence
        exchange.deadline_ns = due_ns
        if content is not None and sock is not None and content.exception() is None:
            self.catch_up()
            if content.is_eof() and self._framed:
                exchange.ended(sock.arrival_ns, framed=True)
        exchange.failed(failure, message, due_ns)

    def on_sent(self, at_ns: int) -> None:
        """Pass it on."""
        self.exchange.sent(at_ns)

    def on_body(self) -> None:
        """Look at what came of it when aiohttp has seen it."""
        asyncio.get_running_loop().call_soon(self._hear_of_garbage)

    def _hear_of_garbage(self) -> None:
        """End a body whose framing is broken: aiohttp tells the connection so, but not who reads the body."""
        protocol, content = self._protocol, self._content
        if protocol is None or content is None or content.is_eof() or content.exception() is not None:
            return
        if isinstance(error := protocol.exception(), HttpProcessingError):
            content.set_exception(malformed(error.message))

    def _setup(self, sock: ObservedSocket) -> Setup:
        if sock.used:
            return Setup(reused=True)
        now_ns = time.monotonic_ns()
        speaking_ns = sock.speaking_ns or now_ns
        return Setup(
            reused=False,
            dns_ms=self.dns_ms,
            connect_ms=(speaking_ns - sock.connecting_ns) / 1e6,
            tls_ms=(now_ns - speaking_ns) / 1e6 if sock.speaking_ns else None,
        )


_errand: ContextVar[_Errand] = ContextVar("_errand")
"""Whose request the running code of aiohttp is about."""


class _Connector(aiohttp.TCPConnector):
    """Opens observed sockets, as many as are asked for, and hands none out that the server has given up.

    Args:
        ssl: Whom to trust; True for whomever OpenSSL does.
    """

    def __init__(self, *, ssl: ssl.SSLContext | bool) -> None:
        super().__init__(
            ssl=ssl,
            limit=0,
            keepalive_timeout=_FOR_EVER_S,
            resolver=_Resolver(),
            ttl_dns_cache=None,
            happy_eyeballs_delay=None,
            socket_factory=self._socket,
        )
        self._by_descriptor: WeakValueDictionary[int, ObservedSocket] = WeakValueDictionary()

    async def connect(
        self,
        req: aiohttp.ClientRequest,
        traces: list[Trace],
        timeout: aiohttp.ClientTimeout,  # noqa: ASYNC109 (the signature is aiohttp's)
    ) -> Connection:
        """A connection for the request at hand.

        Raises:
            aiohttp.ClientError: There is none.
        """
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
            if not (sock.used and sock.is_stale()):
                _errand.get().take(sock, protocol, transport)
                return connection
            _abort(transport)
            connection.close()

    def _socket(self, address: aiohttp.AddrInfoType) -> ObservedSocket:
        family, kind, protocol, _, _ = address
        sock = ObservedSocket(family, kind, protocol)
        sock.stamp_arrivals()
        self._by_descriptor[sock.fileno()] = _errand.get().sock = sock
        return sock


class _Resolver(aiohttp.ThreadedResolver):
    """Asks the system, and notes how long it took."""

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list[ResolveResult]:
        """Look a host up."""
        started_ns = time.monotonic_ns()
        found = await super().resolve(host, port, family)
        _errand.get().dns_ms = (time.monotonic_ns() - started_ns) / 1e6
        return found


def _proxy(endpoint: Endpoint) -> URL | None:
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


def _abort(transport: asyncio.Transport) -> None:
    # The TLS transport of older Pythons (3.11.2) cannot be told so any more once it is lost.
    with suppress(AttributeError):
        transport.abort()
