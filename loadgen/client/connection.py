"""One HTTP/1.1 connection of the measured transport: an asyncio protocol around `httptools`.

The protocol stamps and passes on; it decides nothing. Reads land in one buffer that all connections share,
because each read is consumed before the next can happen.
"""

from __future__ import annotations

import asyncio
import socket
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

import httptools

from loadgen.client.exchange import Head, Observer
from loadgen.client.failure import Failure, RequestFailedError

if TYPE_CHECKING:
    from loadgen.client.arrival import StampingSocket

_READ_BYTES: Final = 64 * 1024
_MAX_HEAD_BYTES: Final = 64 * 1024
_buffer: Final = memoryview(bytearray(_READ_BYTES))

_INFORMATIONAL: Final = range(100, 200)


@dataclass(slots=True)
class _Response:
    """What is known of the response that is being read."""

    head: Head | None = None
    headers: dict[str, str] = field(default_factory=dict)
    head_bytes: int = 0
    until_close: bool = False
    first_byte_ns: int = 0
    read_ns: int = 0

    def arrived(self, at_ns: int) -> None:
        """Note the stamp of a read."""
        self.first_byte_ns = self.first_byte_ns or at_ns
        self.read_ns = at_ns


class Connection(asyncio.BufferedProtocol):
    """Carries one request at a time.

    Args:
        sock: The socket below, which knows when bytes arrived.

    Attributes:
        reusable: Whether another request may be sent on it.
    """

    def __init__(self, sock: StampingSocket) -> None:
        self.reusable = True
        self._sock = sock
        self._transport: asyncio.Transport | None = None
        self._observer: Observer | None = None
        self._parser: httptools.HttpResponseParser | None = None
        self._unsent = False
        self._response = _Response()

    def request(self, data: bytes, observer: Observer) -> None:
        """Send one request; the observer is told everything else.

        The stamp of `sent` is taken right before the bytes go to the kernel: sending gives up the GIL, and
        what passes until this thread has it again is not the server's time. When the kernel's buffer cannot
        take them all, the stamp is the moment at which it had taken the last.
        """
        if self._transport is None or self._transport.is_closing():
            observer.failed(
                Failure.RESET, "the connection was closed before the request", time.monotonic_ns()
            )
            return
        self._observer = observer
        self._response = _Response()
        self._parser = httptools.HttpResponseParser(self)
        at_ns = time.monotonic_ns()
        self._transport.write(data)
        if not self._unsent and self._observer is observer:
            observer.sent(at_ns)

    def close(self) -> None:
        """Close the connection at once, without a farewell over TLS; the observer hears no more."""
        self._observer = None
        self.reusable = False
        if self._transport is not None:
            self._transport.abort()

    def is_stale(self) -> bool:
        """Whether the server closed, or wrote to, this idle connection and the event loop has yet to hear."""
        try:
            self._sock.recv(1, socket.MSG_PEEK)
        except BlockingIOError:
            return False
        except OSError:
            return True
        return True

    # What asyncio calls…

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Take the transport; any unsent byte counts, so that `sent` is the last one's."""
        assert isinstance(transport, asyncio.Transport)  # noqa: S101 (narrows asyncio's signature)
        self._transport = transport
        # Not 0: asyncio's TLS transport takes that for a buffer that is full even when it is empty.
        transport.set_write_buffer_limits(high=1)

    def get_buffer(self, sizehint: int) -> memoryview:  # noqa: ARG002 (asyncio's signature)
        """Where the next read goes."""
        return _buffer

    def buffer_updated(self, nbytes: int) -> None:
        """Take a read: stamp it, then parse it."""
        if self._parser is None:
            # Bytes that nobody asked for: the connection cannot be trusted with another request.
            self.close()
            return
        self._response.arrived(self._sock.arrival_ns)
        try:
            self._parser.feed_data(_buffer[:nbytes])
        except httptools.HttpParserCallbackError as error:
            self._fail_with(error.__context__ or error)
        except httptools.HttpParserError as error:
            self._fail(Failure.MALFORMED_FRAME, f"the response is not HTTP/1.1: {error}")
        except httptools.HttpParserUpgrade:
            self._fail(Failure.MALFORMED_FRAME, "the server switches from HTTP/1.1 to another protocol")
        else:
            self._bound_head(nbytes)

    def eof_received(self) -> bool:
        """Let the transport close; `connection_lost` follows."""
        self.reusable = False
        return False

    def connection_lost(self, exc: Exception | None) -> None:
        """Tell the observer whether that was the end of the response or a failure."""
        self.reusable = False
        self._transport = None
        if self._observer is None:
            return
        if self._response.head is not None and self._response.until_close and exc is None:
            self._end(framed=False)
        elif self._response.first_byte_ns:
            self._fail(
                Failure.TRUNCATED, f"the connection ended in the middle of the response{_because(exc)}"
            )
        else:
            self._fail(Failure.RESET, f"the connection ended before a response{_because(exc)}")

    def pause_writing(self) -> None:
        """The kernel did not take all of the request."""
        self._unsent = True

    def resume_writing(self) -> None:
        """Now it has."""
        self._unsent = False
        if self._observer is not None:
            self._observer.sent(time.monotonic_ns())

    # What httptools calls…

    def on_header(self, name: bytes, value: bytes) -> None:
        """Keep a header; a trailer is none."""
        if self._response.head is None:
            self._response.headers[name.decode("latin-1").lower()] = value.decode("latin-1")

    def on_headers_complete(self) -> None:
        """Pass the head on, unless more heads follow."""
        assert self._parser is not None  # noqa: S101 (set while a response is read)
        response = self._response
        status = self._parser.get_status_code()
        if status in _INFORMATIONAL:
            return
        response.head = Head(status, response.headers)
        response.until_close = (
            "content-length" not in response.headers
            and "chunked" not in response.headers.get("transfer-encoding", "").lower()
        )
        if self._observer is not None:
            self._observer.head(response.head, response.first_byte_ns)

    def on_body(self, data: bytes) -> None:
        """Pass a piece of the body on."""
        if self._observer is not None:
            self._observer.body(data, self._response.read_ns)

    def on_message_complete(self) -> None:
        """The response is complete, unless it was only informational."""
        if self._response.head is None:
            self._response.headers = {}
        elif self._observer is not None:
            self._end(framed=True)

    # The end of a response…

    def _bound_head(self, nbytes: int) -> None:
        if self._response.head is None and self._parser is not None:
            self._response.head_bytes += nbytes
            if self._response.head_bytes > _MAX_HEAD_BYTES:
                self._fail(Failure.TOO_LARGE, f"response headers of more than {_MAX_HEAD_BYTES} bytes")

    def _end(self, *, framed: bool) -> None:
        observer, self._observer = self._observer, None
        parser, self._parser = self._parser, None
        keep_alive = parser is not None and parser.should_keep_alive()
        self.reusable = self.reusable and framed and keep_alive and not self._unsent
        if observer is not None:
            observer.ended(self._response.read_ns, framed=framed)
        if not self.reusable:
            self.close()

    def _fail_with(self, error: BaseException) -> None:
        if isinstance(error, RequestFailedError):
            self._fail(error.failure, str(error))
        else:
            self._fail(Failure.CLIENT_BUG, f"{type(error).__name__}: {error}")

    def _fail(self, failure: str, message: str) -> None:
        observer = self._observer
        self._parser = None
        self.close()
        if observer is not None:
            observer.failed(failure, message, time.monotonic_ns())


def _because(exc: Exception | None) -> str:
    return f" ({exc})" if exc is not None else ""
