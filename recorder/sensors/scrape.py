"""One request for a page that may be slow, endless or hostile: bounded in time, size and trust.

By http.client: aiohttp, which the load goes through, takes 0.3 s of CPU to import, and this 0.05 s.
"""

from __future__ import annotations

import http.client
import socket
import ssl
import threading
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit, urlunsplit

from lazy_dataclasses import dataclass, field
from recorder.sensors.names import MOST_BYTES

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from urllib.parse import SplitResult

_PART_BYTES: Final = 65_536
_OK: Final = 200
_REDIRECTS: Final = range(300, 400)


class ScrapeError(Exception):
    """A page could not be read."""

    def __init__(self, name: str, message: str) -> None:
        super().__init__(message)
        self.name = name


@dataclass(frozen=True, slots=True)
class MetricsPage:
    """A page: the text, the media type, and the time of reading, half-way between request and response."""

    text: str
    kind: str
    at_ns: int
    took_ms: float


@dataclass(frozen=True, slots=True)
class ScrapeTarget:
    """Where a page is."""

    url: str
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    verify: bool = True
    timeout_s: float = 2.0
    method: str = "GET"


def scrape(target: ScrapeTarget) -> MetricsPage:
    """Get a page, or raise `ScrapeError`. No redirect is followed: a header must not go to another host."""
    parts = urlsplit(target.url)
    connection = _connection(parts, target)
    started_ns = time.monotonic_ns()
    # A limit for each read would let a server that sends a byte at a time last without end.
    expired, sockets = threading.Event(), list[socket.socket]()
    deadline = threading.Timer(target.timeout_s, _expire, (sockets, expired))
    deadline.daemon = True
    deadline.start()
    try:
        connection.connect()
        # The connection forgets its socket when the response is the last one.
        sockets.append(connection.sock)
        body, kind = _exchange(connection, parts, target)
    except (OSError, http.client.HTTPException, ValueError) as error:
        if expired.is_set() or isinstance(error, TimeoutError):
            raise ScrapeError("timeout", f"no complete answer within {target.timeout_s:g} s") from error
        raise ScrapeError("unreachable", f"{type(error).__name__}: {error}") from error
    finally:
        deadline.cancel()
        connection.close()
    if expired.is_set():
        raise ScrapeError("timeout", f"no complete answer within {target.timeout_s:g} s")
    ended_ns = time.monotonic_ns()
    text = body.decode(errors="replace")
    return MetricsPage(text, kind, (started_ns + ended_ns) // 2, (ended_ns - started_ns) / 1e6)


def _connection(parts: SplitResult, target: ScrapeTarget) -> http.client.HTTPConnection:
    try:
        host, port = parts.hostname or "", parts.port
    except ValueError as error:
        raise ScrapeError("unreachable", f"the URL has no valid port: {error}") from error
    if parts.scheme != "https":
        return http.client.HTTPConnection(host, port, timeout=target.timeout_s)
    context = ssl.create_default_context()
    if not target.verify:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    return http.client.HTTPSConnection(host, port, timeout=target.timeout_s, context=context)


def _exchange(
    connection: http.client.HTTPConnection, parts: SplitResult, target: ScrapeTarget
) -> tuple[bytes, str]:
    path = urlunsplit(("", "", parts.path or "/", parts.query, ""))
    headers = {"Accept": "text/plain;version=0.0.4, */*;q=0.1", "Accept-Encoding": "identity"}
    connection.request(target.method, path, headers={**headers, **target.headers})
    # A response that is left before its end keeps the socket open.
    with connection.getresponse() as response:
        return _body(response), response.getheader("Content-Type", "")


def _body(response: http.client.HTTPResponse) -> bytes:
    if response.status in _REDIRECTS:
        raise ScrapeError(
            "redirect", f"HTTP {response.status}: redirects are not followed; give the final URL"
        )
    if response.status != _OK:
        raise ScrapeError(f"http_{response.status}", f"HTTP {response.status}")
    body = bytearray()
    while part := response.read1(_PART_BYTES):
        body += part
        if len(body) > MOST_BYTES:
            raise ScrapeError("too_large", f"the page is longer than {MOST_BYTES // 1024**2} MiB")
    if response.length:
        raise http.client.IncompleteRead(b"", response.length)
    return bytes(body)


def _expire(sockets: Sequence[socket.socket], expired: threading.Event) -> None:
    """End an exchange from another thread: the reads return at once."""
    expired.set()
    for open_socket in sockets:
        with suppress(OSError):
            # Not by the method of a TLS socket, which would leave the reader without its cipher.
            socket.socket.shutdown(open_socket, socket.SHUT_RDWR)
