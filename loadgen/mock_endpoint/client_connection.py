"""One client: bytes become requests, answers become bytes, and the client may leave at any time."""

from __future__ import annotations

import socket
import time
from collections import deque
from collections.abc import Generator
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Protocol

import httptools

from loadgen.mock_endpoint.ask import RefusedRequest
from workloads.registry import service

if TYPE_CHECKING:
    from loadgen.driver.client.arrival import StampingSocket
    from loadgen.mock_endpoint.tls_filter import TlsLayer

Task = Generator[tuple[int, bytes], int, None]
"""Answers one request. It yields when something is due, in ns of CLOCK_MONOTONIC, and what is to be sent
then; it receives the time at which that was sent: the time right before."""

NOW: Final = 0
"""When that is due which waits for nothing."""

PARKED: Final = -1
"""When nothing is due until the task's connection is woken."""

_HTTP2: Final = b"PRI * HTTP/2.0"
_LONGEST_HEAD: Final = 65536
_MOST_UNSENT: Final = 1 << 20
_MOST_REQUESTS: Final = 1000
SESSION_HEADERS: Final = (
    *(b"x-correlation-id", b"x-session-id", b"x-session-affinity", b"x-session-token"),
    *(b"x-smg-routing-key", b"x-dynamo-session-id", b"x-dynamo-parent-session-id"),
)
"""Headers that gateways route by, so that the requests of a session reach the server that has its prefix."""

_HEEDED: Final = frozenset(
    (b"authorization", b"content-encoding", b"expect", b"x-request-id", *SESSION_HEADERS)
)
_buffer: Final = memoryview(bytearray(65536))


class RawRequest(NamedTuple):
    """A client's request.

    Attributes:
        method: Its method; empty for what is not HTTP.
        path: Its path, without the query; as above.
        headers: Those that this server heeds, by lower-case name.
        body: Its body.
        received_ns: When its last segment arrived, in ns of CLOCK_MONOTONIC.
        keep_alive: Whether another request may follow on its connection.
        chunked: Whether its client reads a body in chunks, as HTTP/1.1 has it.
        refusal: Why it is refused, whatever it asks for.
        stream: Makes the frames of its response in HTTP/2; None in HTTP/1.1.
    """

    method: str
    path: str
    headers: dict[bytes, bytes]
    body: bytes
    received_ns: int
    keep_alive: bool = True
    chunked: bool = True
    refusal: RefusedRequest | None = None
    stream: Any = None

    def header(self, name: bytes) -> str | None:
        """A header's value."""
        value = self.headers.get(name)
        return None if value is None else value.decode(errors="replace")

    def session(self) -> dict[str, str]:
        """The headers that name a session."""
        return {
            name.decode(): self.headers[name].decode(errors="replace")
            for name in SESSION_HEADERS
            if name in self.headers
        }


class Host(Protocol):
    """The engine as seen by a connection.

    Attributes:
        closes: Whether a connection is closed after its first response.
    """

    closes: bool

    def begin(self, connection: MockConnection, request: RawRequest) -> None:
        """Answer a request with a task, which owns the connection until the end."""

    def wake(self, connection: MockConnection) -> None:
        """Resume the connection's parked task soon."""

    def unblock(self, connection: MockConnection) -> None:
        """Resume the connection's task: there is room to write again."""

    def watch(self, connection: MockConnection, *, writable: bool) -> None:
        """Notify the connection when readable; with `writable`, when writable too."""


class MockConnection:
    """One client's connection. Reads and writes raise OSError after the client has gone.

    Args:
        client: Where the client is; non-blocking, and it stamps arrivals.
        host: What the connection lives in.
        tls: Encrypts what is sent; None for plain HTTP.

    Attributes:
        fd: The socket's file descriptor.
        task: Answers the present request; None between requests.
        blocked: Whether so much is unsent that the task has to wait until all is.
        room_ns: When such a wait, or a stall of the server, last ended, in ns of CLOCK_MONOTONIC: what was
            due before is not late by the server's fault.
    """

    __slots__ = (
        "_body",
        "_closing",
        "_head_complete",
        "_head_size",
        "_headers",
        "_host",
        "_http2",
        "_parser",
        "_requests",
        "_send",
        "_socket",
        "_tls",
        "_unsent",
        "_url",
        "blocked",
        "fd",
        "room_ns",
        "task",
    )

    def __init__(self, client: StampingSocket, host: Host, tls: TlsLayer | None = None) -> None:
        self.fd = client.fileno()
        self.task: Task | None = None
        self._socket = client
        self._send = client.send
        self._host = host
        self._tls = tls
        self._parser: Any = httptools.HttpRequestParser(self)
        self._http2: Any = None
        self._requests: deque[RawRequest] = deque()
        self._unsent = bytearray()
        self.blocked = False
        self.room_ns = 0
        self._closing = False
        self._next_message()

    def read(self) -> None:
        """Read the available bytes, and begin the requests."""
        try:
            size = self._socket.recv_into(_buffer)
        except BlockingIOError:
            return
        if not size:
            raise ConnectionResetError("the client has closed its end")
        data: bytes | memoryview = _buffer[:size]
        if self._tls is not None:
            data = self._tls.decrypt(data)
            self.write(b"")  # what a handshake answers
        if not self._closing:
            self._parse(data)
            self.go_on()

    def go_on(self) -> None:
        """Begin the next request, if there is one and none is being answered."""
        while self.task is None and self._requests:
            self._host.begin(self, self._requests.popleft())
        if self._closing and self.task is None and not self._unsent:
            if self._tls is not None:
                self._send(self._tls.end())
            # Closing at once would reset what the client has not read yet: it closes when it has.
            self._socket.shutdown(socket.SHUT_WR)

    def write(self, data: bytes) -> None:
        """Send bytes; bytes beyond the client's window follow later."""
        if self._tls is not None:
            data = self._tls.encrypt(data)
        if self._unsent:
            self._unsent += data
        else:
            try:
                sent = self._send(data)
            except BlockingIOError:
                sent = 0
            if sent == len(data):
                return
            self._unsent += memoryview(data)[sent:]
            self._host.watch(self, writable=True)
        self.blocked = len(self._unsent) > _MOST_UNSENT

    def flush(self) -> None:
        """Send the remaining bytes, now that the window is open."""
        if self._unsent:
            with suppress(BlockingIOError):
                del self._unsent[: self._send(self._unsent)]
        if not self._unsent:
            self._host.watch(self, writable=False)
            if self.blocked:
                self.blocked = False
                self.room_ns = time.monotonic_ns()
                self._host.unblock(self)
            self.go_on()

    def wake(self) -> None:
        """Resume the parked task soon."""
        self._host.wake(self)

    def close(self) -> RawRequest | None:
        """Close the socket.

        Returns:
            The request of which only the head had come in full, if there is one.
        """
        self._socket.close()
        begun = self._request() if self._head_complete else None
        self._parser = None  # it holds on to this object, and cycles are not collected
        return begun

    # What the parser calls

    def on_url(self, url: bytes) -> None:
        """Take a piece of the request's target."""
        self._url += url

    def on_header(self, name: bytes, value: bytes) -> None:
        """Take a header."""
        name = name.lower()
        if name in _HEEDED:
            self._headers[name] = value

    def on_headers_complete(self) -> None:
        """Ask for the body, of a client that waits to be asked."""
        self._head_complete = True
        if b"expect" in self._headers and self.task is None and not self._requests:
            self.write(b"HTTP/1.1 100 Continue\r\n\r\n")

    def on_body(self, data: bytes) -> None:
        """Take a piece of the body."""
        self._body.append(data)

    def on_message_complete(self) -> None:
        """Put the request with those that wait."""
        if not self._closing:
            request = self._request()
            self._requests.append(request)
            self._closing = self._host.closes or not request.keep_alive
        self._next_message()

    def _parse(self, data: bytes | memoryview) -> None:
        if self._http2 is None and data[: len(_HTTP2)] == _HTTP2:
            self._http2 = service("mock_http2")(self.write, self._requests.append, self._socket)
        if self._http2 is not None:
            self._http2.feed(bytes(data))
            return
        self._head_size += len(data)
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserUpgrade:
            # The request that wants another protocol is answered in this one, what follows it is not HTTP.
            self._closing = True
        except httptools.HttpParserError as error:
            self._refuse(RefusedRequest(400, f"Not HTTP: {error}"))
        if self._head_size > _LONGEST_HEAD and not self._head_complete:
            self._refuse(RefusedRequest(431, f"The request's head is longer than {_LONGEST_HEAD} bytes"))
        if len(self._requests) > _MOST_REQUESTS:
            raise ConnectionAbortedError("the client asks without end, and does not read the answers")

    def _next_message(self) -> None:
        self._url = b""
        self._headers: dict[bytes, bytes] = {}
        self._body: list[bytes] = []
        self._head_size = 0
        self._head_complete = False

    def _request(self) -> RawRequest:
        """The request as far as received."""
        parser, refusal = self._parser, None
        version = parser.get_http_version()
        if version not in ("1.0", "1.1"):
            refusal = RefusedRequest(505, "The server speaks HTTP/1.1 and HTTP/1.0")
        elif self._headers.get(b"content-encoding", b"identity") != b"identity":
            refusal = RefusedRequest(415, "The server accepts no compressed bodies")
        return RawRequest(
            parser.get_method().decode(),
            self._url.partition(b"?")[0].decode("latin-1"),
            self._headers,
            self._body[0] if len(self._body) == 1 else b"".join(self._body),
            self._socket.arrival_ns,
            version == "1.1" and parser.should_keep_alive(),
            version != "1.0",
            refusal,
        )

    def _refuse(self, refusal: RefusedRequest) -> None:
        if not self._closing:
            self._closing = True
            self._requests.append(
                RawRequest("", "", {}, b"", self._socket.arrival_ns, keep_alive=False, refusal=refusal)
            )
