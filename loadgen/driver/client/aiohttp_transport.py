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
import time
from typing import TYPE_CHECKING, Final

import aiohttp
from yarl import URL

from loadgen.driver.client.aiohttp_connector import Connector
from loadgen.driver.client.aiohttp_failure import cut, failure_of, malformed
from loadgen.driver.client.aiohttp_request import CURRENT, Errand
from loadgen.driver.client.dialing import proxy_address
from loadgen.driver.client.failure import Failure
from loadgen.driver.client.head import REQUEST_TIMEOUT_408, head, require_asked
from loadgen.driver.client.idle_timeout import Patience, Silence
from loadgen.driver.client.memory_bounds import MAX_HEAD_BYTES
from loadgen.driver.client.tls import tls_context
from loadgen.driver.errors import RequestFailedError

if TYPE_CHECKING:
    from aiohttp.abc import AbstractStreamWriter

    from loadgen.driver.client.endpoint import Endpoint, Request
    from loadgen.driver.client.exchange import Exchange
    from loadgen.driver.client.observed_socket import Passage
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
        self._errands: dict[Exchange, Errand] = {}
        self._patience = Patience(timeouts, self._errands.get, self._silent)
        self._session: aiohttp.ClientSession | None = None

    async def send(self, request: Request, exchange: Exchange) -> None:
        """Send one request; return when the exchange is finished.

        Cancelling closes the connection and leaves the exchange unfinished.
        """
        due_s = exchange.due_s
        if due_s is None:
            due_s = asyncio.get_running_loop().time() + self._timeouts.timeout_s
        errand = self._errands[exchange] = Errand(exchange, asyncio.timeout_at(due_s))
        token = CURRENT.set(errand)
        self._patience.start(exchange)
        try:
            async with errand.limit:
                try:
                    await self._carry(request, errand)
                except RequestFailedError as error:
                    if not errand.met_the_end(error):
                        raise
                    errand.leave()
                    exchange.again()
                    errand = self._errands[exchange] = Errand(exchange, errand.limit, retried=True)
                    CURRENT.set(errand)
                    self._patience.start_again(exchange)
                    await self._carry(request.resent(), errand)
        except RequestFailedError as error:
            exchange.failed(error.failure, str(error), time.monotonic_ns())
        except TimeoutError:
            # The event loop's clock is CLOCK_MONOTONIC.
            errand.give_up(Silence(Failure.TOTAL_TIMEOUT, self._timeouts.too_late, round(due_s * _SECOND)))
        finally:
            del self._errands[exchange]
            self._patience.stop(exchange)
            CURRENT.reset(token)
            errand.leave()

    def _silent(self, exchange: Exchange, silence: Silence) -> None:
        """Wake the carrier of a request, to abandon the request."""
        errand = self._errands[exchange]
        if not errand.limit.expired():
            errand.silence = silence
            errand.limit.reschedule(0)

    async def caught_up(self) -> int | None:
        """None: aiohttp buffers reads internally."""
        return None

    async def close(self) -> None:
        """Close the connections."""
        self._patience.close()
        if self._session is not None:
            await self._session.close()
            self._session = None

    async def _carry(self, request: Request, errand: Errand) -> None:
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

    async def _receive(self, response: aiohttp.ClientResponse, errand: Errand) -> None:
        exchange, sock = errand.exchange, errand.sock
        assert sock is not None  # noqa: S101 (who answers was connected to)
        if response.status == _SWITCHING_PROTOCOLS:
            raise malformed("the server switches to another protocol")
        received = head(response.status, tuple(response.raw_headers))
        encrypted = self.endpoint.scheme == "https"
        framed = not received.until_close or response.status in _WITHOUT_BODY
        errand.answered(response.content, framed=framed)
        first_byte_ns = sock.arrival_ns if encrypted else errand.first_ns
        try:
            require_asked(response.status, first_byte_ns, errand.begun_ns, is_reused=errand.is_reused)
        except RequestFailedError:
            errand.stale = response.status == REQUEST_TIMEOUT_408
            if not errand.stale:
                sock.count_unasked()
            raise
        exchange.head(received, first_byte_ns)
        try:
            while data := await response.content.readany():
                errand.pass_on(data, sock)
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

    def __init__(self, body: bytes, passage: Passage) -> None:
        super().__init__(body, content_type="application/json")
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
