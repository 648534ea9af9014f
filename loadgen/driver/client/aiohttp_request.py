"""One request inside aiohttp: the traffic on the socket, and the state that aiohttp hides."""

from __future__ import annotations

import asyncio
import socket
import ssl
import time
from contextlib import suppress
from contextvars import ContextVar
from typing import TYPE_CHECKING

import aiohttp
from aiohttp.http import HttpProcessingError

from loadgen.driver.client.arrival_bounds import Late
from loadgen.driver.client.dialing import no_address, refused
from loadgen.driver.client.exchange import Setup
from loadgen.driver.client.failure import Failure
from loadgen.driver.client.head import may_have_crossed
from loadgen.driver.client.observed_socket import Passage
from loadgen.driver.client.tls import explained
from loadgen.driver.errors import HeadTooLargeError, RequestFailedError

if TYPE_CHECKING:
    from aiohttp.client_proto import ResponseHandler

    from loadgen.driver.client.endpoint import Endpoint
    from loadgen.driver.client.exchange import Exchange
    from loadgen.driver.client.observed_socket import ObservedSocket
    from loadgen.driver.client.silence_timeouts import Silence
    from loadgen.driver.client.timeouts import Timeouts


class RequestState(Passage):
    """The state of one request inside aiohttp."""

    def __init__(self, exchange: Exchange, limit: asyncio.Timeout, *, retried: bool = False) -> None:
        super().__init__()
        self.exchange = exchange
        self.limit = limit
        self.retried = retried
        self.stale = False
        self.silence: Silence | None = None
        self.dns_ms: float | None = None
        self.sock: ObservedSocket | None = None  #: what carries it; None before there is a connection
        self._protocol: ResponseHandler | None = None
        self._transport: asyncio.Transport | None = None
        self._content: aiohttp.StreamReader | None = None
        self._framed = False
        self._taken_ns = 0
        self._reads = 0
        self._body_bytes = 0
        self._body_ns = 0

    def take(
        self, sock: ObservedSocket, protocol: ResponseHandler, transport: asyncio.Transport, unasked: int
    ) -> None:
        """Attach a connection: the traffic from now on belongs to this request."""
        self.exchange.setup = self._setup(sock, unasked)
        self.sock, self._protocol, self._transport = sock, protocol, transport
        sock.carry(self)
        self._reads = sock.counted.reads if sock.counted is not None else 0

    def leave(self) -> None:
        """Detach the connection; an unusable one is closed, without a TLS close alert."""
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
            self.exchange.drop_connection = self._close_if_idle
        else:
            abort(self._transport)

    def _close_if_idle(self) -> None:
        if self.sock is not None and self.sock.passage is None and self._transport is not None:
            abort(self._transport)

    def met_the_end(self, error: RequestFailedError) -> bool:
        """Whether the request may have crossed the close of a kept connection, and is sent again."""
        cut_off = error.failure == Failure.RESET and may_have_crossed(self.begun_ns)
        return not self.retried and self.is_reused and (self.stale or cut_off)

    def answered(self, content: aiohttp.StreamReader, *, framed: bool) -> None:
        """Note the complete head, the reader of the body, and whether the body is framed."""
        self.head, self._content, self._framed = True, content, framed
        if self.sock is not None:
            self.heard_ns = self.heard_ns or self.sock.arrival_ns
            if not content.total_bytes:
                self._note_taken(self.sock)
        self.bare_bytes, self._body_bytes, self._body_ns = 0, content.total_bytes, self.heard_ns

    def read_on(self) -> None:
        """No action: asyncio reads before checking the time."""

    def catch_up(self) -> None:
        """Take the data received before a broken body, which aiohttp would withhold."""
        content, sock = self._content, self.sock
        if content is not None and sock is not None:
            content._exception = None  # noqa: SLF001 (nothing public hands out what was read)
            with suppress(RequestFailedError):
                if data := content.read_nowait():
                    self.pass_on(data, sock)

    def pass_on(self, data: bytes, sock: ObservedSocket) -> None:
        """Pass on received data of the body, stamped with the last read.

        It arrived after what was taken before it. Where it ends in its last read is not known.
        """
        before, since_ns, at_ns = self._reads, self._taken_ns, sock.arrival_ns
        self._note_taken(sock)
        exact = self._reads - before == 1 and sock.counted is not None and not sock.counted.together()
        self.exchange.body((data,), (at_ns,), {} if exact else {0: Late(since_ns, whole=True)})

    def _note_taken(self, sock: ObservedSocket) -> None:
        """Note that everything read so far was taken."""
        self._reads = sock.counted.reads if sock.counted is not None else 0
        self._taken_ns = sock.arrival_ns

    def give_up(self, silence: Silence) -> None:
        """End the request after the time limit; received data counts, and may be a whole response."""
        exchange, content, sock = self.exchange, self._content, self.sock
        failure, message, due_ns = self.silence or silence
        exchange.deadline_ns = due_ns
        if content is not None and sock is not None and content.exception() is None:
            self.catch_up()
            if content.is_eof() and self._framed:
                exchange.ended(sock.arrival_ns, framed=True)
        exchange.failed(failure, message, due_ns)

    def on_sent(self, at_ns: int, by_ns: int) -> None:
        """Pass the send times on."""
        self.exchange.sent(at_ns, by_ns)

    def on_body(self) -> None:
        """Look at the outcome after aiohttp has parsed the data."""
        asyncio.get_running_loop().call_soon(self._look_at_read)

    def _look_at_read(self) -> None:
        """Check whether the last read brought body data; end a body with broken framing.

        What is not part of the body, a trailer say, is not a sign of life. Of broken framing aiohttp tells
        the connection, but not who reads the body.
        """
        protocol, content = self._protocol, self._content
        if content is not None:
            if content.total_bytes > self._body_bytes:
                self.bare_bytes = 0
                self._body_bytes, self._body_ns = content.total_bytes, self.heard_ns
            self.heard_ns = self._body_ns
        if protocol is None or content is None or content.is_eof() or content.exception() is not None:
            return
        if isinstance(error := protocol.exception(), HttpProcessingError):
            content.set_exception(malformed(error.message))

    def _setup(self, sock: ObservedSocket, unasked: int) -> Setup:
        if sock.used:
            return Setup(reused=True, unasked=unasked)
        now_ns = time.monotonic_ns()
        speaking_ns = sock.speaking_ns or now_ns
        return Setup(
            reused=False,
            dns_ms=self.dns_ms,
            connect_ms=(speaking_ns - sock.connecting_ns) / 1e6,
            tls_ms=(now_ns - speaking_ns) / 1e6 if sock.speaking_ns else None,
            retried=self.retried,
            unasked=unasked,
        )


CURRENT: ContextVar[RequestState] = ContextVar("request_state")
"""Whose request the running code of aiohttp is about."""


def abort(transport: asyncio.Transport) -> None:
    """Close a connection at once, without a farewell over TLS."""
    # The TLS transport of older Pythons (3.11.2) cannot be aborted once it is lost.
    with suppress(AttributeError):
        transport.abort()


def failure_of(
    error: Exception, endpoint: Endpoint, passage: Passage, timeouts: Timeouts
) -> RequestFailedError:
    """The failure for an error of aiohttp."""
    where = f"{endpoint.host}:{endpoint.port}"
    match error:
        case aiohttp.ClientConnectorError():
            return _unconnected(error, encrypted=endpoint.scheme == "https")
        case aiohttp.ConnectionTimeoutError():
            return RequestFailedError(Failure.CONNECT_TIMEOUT, timeouts.unconnected(where))
        case aiohttp.ClientHttpProxyError():
            message = f"no connection to {where} (the proxy says {error.status} {error.message})"
            return RequestFailedError(Failure.REFUSED, message)
        case aiohttp.ClientResponseError():
            return malformed(error.message)
        case aiohttp.InvalidURL() | UnicodeError():
            return _unknown(endpoint.host, error)
    # Over TLS what came first may have been no response; then it is known only of an orderly end.
    partly = isinstance(error, aiohttp.ServerDisconnectedError) and not isinstance(error.message, str)
    began = passage.head or partly or (endpoint.scheme == "http" and passage.first_ns > 0)
    return cut(passage.broken, began=began)


def _unconnected(error: aiohttp.ClientConnectorError, *, encrypted: bool) -> RequestFailedError:
    where, cause = f"{error.host}:{error.port}", error.os_error
    if isinstance(error, aiohttp.ClientConnectorDNSError):
        return _unknown(error.host, cause)
    hung_up = isinstance(cause, ConnectionError) and not isinstance(cause, ConnectionRefusedError)
    if isinstance(cause, ssl.SSLError) or (hung_up and encrypted):
        return RequestFailedError(Failure.TLS, f"no TLS with {where}: {explained(cause)}")
    return refused(cause, where)


def cut(why: OSError | None, *, began: bool) -> RequestFailedError:
    """The end of a connection, before a response or in the middle of one."""
    if isinstance(why, HeadTooLargeError):
        return RequestFailedError(Failure.TOO_LARGE, str(why))
    name, when = (Failure.TRUNCATED, "in the middle of the") if began else (Failure.RESET, "before a")
    because = f" ({why})" if why is not None else ""
    return RequestFailedError(name, f"the connection ended {when} response{because}")


def malformed(why: str) -> RequestFailedError:
    """The failure of a response that is not HTTP."""
    return RequestFailedError(
        Failure.MALFORMED_FRAME, "the response is not HTTP/1.1: " + " ".join(why.split())
    )


def _unknown(host: str, why: Exception) -> RequestFailedError:
    return RequestFailedError(Failure.DNS, no_address(host, why))
