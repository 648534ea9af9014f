"""The second transport, over aiohttp, for features missing in the measured one, such as proxies.

It keeps the same contract and tells the same failures apart, and costs several times as much. Its stamps are
the kernel's too, where there are any, but aiohttp says only afterwards that bytes have arrived: a piece of
the body has the stamp of the last read at the moment at which it is taken, so when there were several reads
by then, all their bytes have the stamp of the last, and came after the piece before. Over TLS the first
byte's stamp is that of the read that completed the head of the response.

A proxy is taken from the environment (`http_proxy`, `https_proxy`, `no_proxy`), once.
"""

from __future__ import annotations

import asyncio
import socket
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Final
from weakref import WeakValueDictionary

import aiohttp
from yarl import URL

from loadgen.driver.client.aiohttp_request import CURRENT, RequestState, abort, cut, failure_of, malformed
from loadgen.driver.client.dialing import proxy_address
from loadgen.driver.client.failure import Failure
from loadgen.driver.client.head import REQUEST_TIMEOUT_408, head, require_asked
from loadgen.driver.client.memory_bounds import MAX_HEAD_BYTES
from loadgen.driver.client.observed_socket import ObservedSocket, Passage
from loadgen.driver.client.silence_timeouts import Silence, SilenceTimeouts
from loadgen.driver.client.tls import tls_context
from loadgen.driver.errors import RequestFailedError

if TYPE_CHECKING:
    import ssl

    from aiohttp.abc import AbstractStreamWriter, ResolveResult
    from aiohttp.connector import Connection
    from aiohttp.tracing import Trace

    from loadgen.driver.client.endpoint import Endpoint, Request
    from loadgen.driver.client.exchange import Exchange
    from loadgen.driver.client.timeouts import Timeouts


_SECOND: Final = 1_000_000_000
_FOR_EVER_S: Final = 1e9
_SWITCHING_PROTOCOLS: Final = 101
_WITHOUT_BODY: Final = (204, 304)


class AiohttpTransport:
    """Sends requests to one endpoint, through aiohttp."""

    def __init__(self, endpoint: Endpoint, timeouts: Timeouts) -> None:
        self.endpoint = endpoint
        self._timeouts = timeouts
        self._states: dict[Exchange, RequestState] = {}
        self._silence: SilenceTimeouts | None = None
        if timeouts.silences:
            self._silence = SilenceTimeouts(timeouts, self._states.get, self._silent)
        self._session: aiohttp.ClientSession | None = None

    async def send(self, request: Request, exchange: Exchange) -> None:
        """Send one request; return when the exchange is finished, which a cancelled one never is."""
        due_s = exchange.due_s
        if due_s is None:
            due_s = asyncio.get_running_loop().time() + self._timeouts.timeout_s
        state = self._states[exchange] = RequestState(exchange, asyncio.timeout_at(due_s))
        token = CURRENT.set(state)
        if self._silence is not None:
            self._silence.start(exchange)
        try:
            async with state.limit:
                try:
                    await self._carry(request, state)
                except RequestFailedError as error:
                    if not state.met_the_end(error):
                        raise
                    state.leave()
                    exchange.again()
                    state = self._states[exchange] = RequestState(exchange, state.limit, retried=True)
                    CURRENT.set(state)
                    if self._silence is not None:
                        self._silence.start_again(exchange)
                    await self._carry(request.resent(), state)
        except RequestFailedError as error:
            exchange.failed(error.failure, str(error), time.monotonic_ns())
        except TimeoutError:
            # The event loop's clock is CLOCK_MONOTONIC.
            state.give_up(Silence(Failure.TOTAL_TIMEOUT, self._timeouts.too_late, round(due_s * _SECOND)))
        finally:
            del self._states[exchange]
            if self._silence is not None:
                self._silence.stop(exchange)
            CURRENT.reset(token)
            state.leave()

    def _silent(self, exchange: Exchange, silence: Silence) -> None:
        """Wake the carrier of a request, to abandon the request."""
        state = self._states[exchange]
        if not state.limit.expired():
            state.silence = silence
            state.limit.reschedule(0)

    async def caught_up(self) -> int | None:
        """None: aiohttp buffers reads internally."""
        return None

    async def close(self) -> None:
        """Close the connections."""
        if self._silence is not None:
            self._silence.close()
        if self._session is not None:
            # A TLS transport of asyncio that was closed twice fails when aiohttp asks for its context.
            with suppress(AttributeError):
                await self._session.close()
            self._session = None

    async def _carry(self, request: Request, state: RequestState) -> None:
        """Carry one request to the end of the response."""
        session = self._opened()
        url = URL(f"{self.endpoint.origin}{self.endpoint.place(request.path)}", encoded=True)
        headers = {
            "Accept": "text/event-stream, application/json",
            "Accept-Encoding": "identity",
            "X-Request-Id": request.request_id,
            **self.endpoint.headers,
            **self.endpoint.connection_header,
        }
        if request.traceparent:
            headers["traceparent"] = request.traceparent
        headers.update(request.headers)
        response = body = None
        if request.body:
            headers["Content-Type"] = request.content_type
            body = ObservedBody(request.body, request.content_type, state)
        state.encrypted = self.endpoint.scheme == "https"
        # Without a body the head is the last of it.
        state.last = body is None
        try:
            response = await session.request(
                request.method, url, data=body, headers=headers, allow_redirects=False
            )
            await self._receive(response, state)
        except (aiohttp.ClientError, UnicodeError) as error:
            raise failure_of(error, self.endpoint, state, self._timeouts) from error
        finally:
            if response is not None:
                response.close()

    async def _receive(self, response: aiohttp.ClientResponse, state: RequestState) -> None:
        exchange, sock = state.exchange, state.sock
        assert sock is not None  # noqa: S101 (who answers was connected to)
        if response.status == _SWITCHING_PROTOCOLS:
            raise malformed("the server switches to another protocol")
        received = head(response.status, tuple(response.raw_headers))
        framed = not received.until_close or response.status in _WITHOUT_BODY
        state.answered(response.content, framed=framed)
        first_byte_ns = sock.arrival_ns if state.encrypted else state.first_ns
        try:
            require_asked(response.status, first_byte_ns, state.begun_ns, is_reused=state.is_reused)
        except RequestFailedError:
            state.stale = response.status == REQUEST_TIMEOUT_408
            if not state.stale:
                sock.count_unasked()
            raise
        exchange.head(received, first_byte_ns)
        try:
            while data := await response.content.readany():
                state.pass_on(data, sock)
        except Exception:
            state.catch_up()
            raise
        if state.broken is not None and not framed:
            # For aiohttp any end is the end of a body without a length.
            raise cut(state.broken, began=True)
        exchange.ended(sock.arrival_ns, framed=framed)

    def _opened(self) -> aiohttp.ClientSession:
        if self._session is None:
            self._session = aiohttp.ClientSession(
                connector=Connector(
                    ssl=self.endpoint.scheme != "https" or tls_context(self.endpoint),
                    keep_alive=self.endpoint.keep_alive,
                ),
                cookie_jar=aiohttp.DummyCookieJar(),
                timeout=aiohttp.ClientTimeout(connect=self._timeouts.connect_timeout_s),
                auto_decompress=False,
                skip_auto_headers=("User-Agent", "Content-Type"),
                # The socket counts, whatever the head is made of; aiohttp is not to be stricter.
                max_line_size=2 * MAX_HEAD_BYTES,
                max_field_size=2 * MAX_HEAD_BYTES,
                max_headers=2 * MAX_HEAD_BYTES,
                middlewares=(self._only_once,),
                proxy=proxy_of(self.endpoint),
            )
        return self._session

    async def _only_once(
        self, request: aiohttp.ClientRequest, handler: aiohttp.ClientHandlerType
    ) -> aiohttp.ClientResponse:
        """Convert errors to failures here: aiohttp would send a request again after an aiohttp error."""
        try:
            return await handler(request)
        except (aiohttp.ClientError, OSError) as error:
            raise failure_of(error, self.endpoint, CURRENT.get(), self._timeouts) from error


def proxy_of(endpoint: Endpoint) -> URL | None:
    """The proxy that the environment names for an endpoint; raise `RequestFailedError` for unusable ones."""
    address = proxy_address(endpoint)
    if address is None:
        return None
    proxy = URL(address if "://" in address else f"http://{address}")
    if proxy.scheme != "http":
        message = (
            f"{endpoint.scheme}_proxy names a proxy that is {proxy.scheme}://; use an http:// one, or none"
        )
        raise RequestFailedError(Failure.REFUSED, message)
    return proxy


class ObservedBody(aiohttp.Payload):
    """A request's body, which is written in one piece and says when."""

    def __init__(self, body: bytes, content_type: str, passage: Passage) -> None:
        super().__init__(body, content_type=content_type)
        self._passage = passage

    @property
    def size(self) -> int:
        """The length in bytes."""
        return len(self._value)

    def decode(self, encoding: str = "utf-8", errors: str = "strict") -> str:
        """The body as a text."""
        return str(self._value, encoding, errors)

    async def write(self, writer: AbstractStreamWriter) -> None:
        """Write the body; the head precedes the body, in one piece or separately."""
        self._passage.last = True
        await writer.write(self._value)


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
        state, others = CURRENT.get(), []
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
            elif sock.used and state.retried:
                others.append(connection)
            else:
                unasked, self._unasked = self._unasked, 0
                state.take(sock, protocol, transport, unasked)
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
