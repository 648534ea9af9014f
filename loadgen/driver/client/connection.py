"""One HTTP/1.1 connection of the measured transport: a socket that stamps, TLS if wanted, and `httptools`.

The connection stamps and passes on; it decides nothing. Reads land in one buffer that all connections share,
because each read is consumed before the next can happen.
"""

from __future__ import annotations

import socket
import ssl
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Final

import httptools

from loadgen.driver.client.failure import Failure
from loadgen.driver.client.head import (
    REQUEST_TIMEOUT_408,
    Head,
    head,
    is_of_http,
    may_have_crossed,
    parse_failure,
    require_asked,
)
from loadgen.driver.client.late_reads import LateReads, SegmentCounter
from loadgen.driver.client.memory_bounds import MAX_HEAD_BYTES
from loadgen.driver.client.unasked import is_unasked, may_end
from loadgen.driver.client.upload import OBSERVED_BYTES, ObservedUpload
from loadgen.driver.errors import RequestFailedError

if TYPE_CHECKING:
    from loadgen.driver.client.arrival import StampingSocket
    from loadgen.driver.client.arrival_bounds import Late
    from loadgen.driver.client.exchange import Exchange
    from loadgen.driver.client.late_reads import Read
    from loadgen.driver.client.ready import Ready
    from loadgen.driver.client.tls import TLSLayer

_READ_BYTES: Final = 64 * 1024
_buffer: Final = memoryview(bytearray(_READ_BYTES))
_buffers: Final = (_buffer,)

_MOST_READS: Final = 64
"""How much is read at once of a connection whose time is over: the server may send without end."""

_TOGETHER: Final = 32
"""How many reads of a stream are parsed at once: by itself, each would cost twice as much."""

_LARGE: Final = 16 * 1024
_MOST_WAITING: Final = 256
"""A read of this many bytes is parsed at once, and so are this many reads: what waits must be bounded."""

_INFORMATIONAL: Final = range(100, 200)


class Connection:
    """Carries one request at a time.

    Attributes:
        heard_ns: When the last bytes of the response arrived, within its body the last that belong to it; 0
            before the first.
        stale: Whether the server may have closed it before it read the last request: no response came.
        unasked: Whether a response came that no request had asked for.
    """

    __slots__ = (
        *("heard_ns", "on_body", "reusable", "stale", "unasked"),
        *("_observer", "_parser", "_ready", "_sock", "_tls"),
        *("_begun_ns", "_unsent", "_upload"),
        *("_bare_bytes", "_body_ns", "_first_byte_ns", "_head", "_headers", "_late", "_moments", "_pieces"),
        *("_in_no_hurry", "_is_kept", "_is_put_off", "_read", "_unparsed"),
    )

    def __init__(self, sock: StampingSocket, tls: TLSLayer | None, ready: Ready) -> None:
        self.reusable = True
        self.stale = self.unasked = self._is_kept = False
        self._sock = sock
        self._tls = tls
        self._ready = ready
        self._observer: Exchange | None = None
        self._parser: httptools.HttpResponseParser | None = None
        self._unsent = memoryview(b"")
        self._upload: ObservedUpload | None = None
        self._begun_ns = 0
        self._pieces: list[bytes] = []
        self._moments: list[int] = []
        #: Takes a piece of the body from httptools; what is parsed together is passed on together.
        self.on_body = self._pieces.append
        self._late = LateReads(SegmentCounter(sock, fresh=tls is None))
        self._begin()
        ready.watch(sock.fileno(), self._on_readable)

    def request(self, data: bytes, observer: Exchange) -> None:
        """Send one request; the observer receives everything else.

        The stamp of `sent` is taken right before the last bytes go to the kernel: sending gives up the GIL,
        and what passes until this thread has it again is not the server's time.
        """
        self._observer = observer
        self._begin()
        self._parser = httptools.HttpResponseParser(self)
        self._parser.set_dangerous_leniencies(lenient_chunked_length=True)
        try:
            data = data if self._tls is None else self._tls.encrypt(data)
        except ssl.SSLError as error:  # the keys are being changed, and nothing has left: as in `_wire.c`
            self._begun_ns = time.monotonic_ns()
            self._lost(error)
            return
        self._upload = ObservedUpload(self._sock, len(data)) if len(data) >= OBSERVED_BYTES else None
        self._send(data)

    def read_on(self) -> None:
        """Read and parse the socket's data, without waiting for a turn."""
        for _ in range(_MOST_READS):
            if self._sock.fileno() < 0 or not self._on_readable():
                break
        self.catch_up()

    def catch_up(self) -> None:
        """Tell the observer of everything that has been read so far."""
        if self._unparsed:
            self._parse()

    def close(self) -> None:
        """Close the connection at once, without a farewell over TLS; the observer has all read data."""
        self.catch_up()
        self._observer = None
        self._parser = None
        self.reusable = False
        if (descriptor := self._sock.fileno()) >= 0:
            self._ready.forget(descriptor)
            self._sock.close()

    def close_if_idle(self) -> None:
        """Close the connection, unless in use."""
        if self._observer is None:
            self.close()

    def is_stale(self) -> bool:
        """Whether the server closed, or wrote to, this idle connection and the event loop has yet to hear."""
        if self._sock.is_quiet():
            return False
        try:
            waiting = self._sock.recv(1, socket.MSG_PEEK)
        except OSError:
            return True
        if waiting:
            # TLS has its own business, such as tickets for later sessions; anything else spoils it.
            self._on_readable()
        return not (waiting and self.reusable)

    # Sending…

    def _send(self, data: bytes | memoryview) -> None:
        at_ns = time.monotonic_ns()
        self._begun_ns = self._begun_ns or at_ns
        try:
            sent = (self._upload or self._sock).send(data)
        except BlockingIOError:
            sent = 0
        except OSError as error:
            self._lost(error)
            return
        if sent < len(data):
            if not self._unsent:
                self._ready.watch_writing(self._sock.fileno(), lambda: self._send(self._unsent))
            self._unsent = memoryview(data)[sent:]
            return
        if self._unsent:
            self._unsent = memoryview(b"")
            self._ready.watch_writing(self._sock.fileno(), None)
        self._sent(at_ns)

    def _sent(self, at_ns: int) -> None:
        """Note that the kernel took all bytes, the last from a moment on."""
        if self._observer is not None:
            self._observer.sent(at_ns, time.monotonic_ns())

    def _send_after(self, reply: bytes) -> None:
        """Send TLS records of the handshake or rekeying, after queued data."""
        if self._unsent:
            self._unsent = memoryview(bytes(self._unsent) + reply)
        else:
            self._send(reply)

    # Receiving…

    def _begin(self) -> None:
        """Know nothing of the next response yet."""
        self._head: Head | None = None
        self._headers: list[tuple[bytes, bytes]] = []
        self._bare_bytes = 0
        self.heard_ns = self._begun_ns = self._first_byte_ns = self._body_ns = 0
        self._read = (b"", 0, 0)
        self._unparsed: list[Read] = []
        self._in_no_hurry = False
        self._is_put_off = False

    def _on_readable(self) -> bool:
        """Take a read with the stamp; whether data was available."""
        sock = self._sock
        try:
            count = sock.receive(_buffers)
        except BlockingIOError:
            if self._upload is not None:
                self._upload.read_stamps()
            return False
        except OSError as error:
            self._lost(error)
            return False
        if not count:
            self._lost(None)
        elif self._tls is None:
            self._take(bytes(_buffer[:count]), sock.arrival_ns)
        else:
            self._decrypt(self._tls, _buffer[:count], sock.arrival_ns)
        return count > 0

    def _decrypt(self, tls: TLSLayer, received: memoryview, at_ns: int) -> None:
        pieces, end = tls.decrypt(received)
        if reply := tls.reply():
            self._send_after(reply)
        if pieces:
            self._take(b"".join(pieces), at_ns)
        else:
            self._late.count(1)
        if end is not None:
            self._lost(None if isinstance(end, ssl.SSLZeroReturnError) else end)

    def _take(self, data: bytes, at_ns: int) -> None:
        """Buffer a read and process the data soon; without a waiting request, with the next read."""
        if self._parser is None:
            self._take_unasked(data)
            return
        if not self._first_byte_ns:
            self._first_byte_ns = at_ns
        self.heard_ns = at_ns
        self._unparsed.append((data, at_ns, self._ready.quiet_ns))
        if len(data) >= _LARGE or len(self._unparsed) >= _MOST_WAITING:
            self._ready.left_unread()
            self._parse()
            return
        if self._is_put_off:
            return
        if not self._in_no_hurry or may_end(data) or len(self._unparsed) >= _TOGETHER:
            self._is_put_off = True
            self._ready.put_off(self._parse)

    def _take_unasked(self, data: bytes) -> None:
        """Close the connection: bytes that no request asked for cannot be trusted with another request."""
        self.unasked = self.unasked or is_unasked(data)
        self.close()

    def _parse(self) -> None:
        """Parse the buffered data; nothing is left if the connection has ended meanwhile."""
        self._is_put_off = False
        unparsed, self._unparsed = self._unparsed, []
        self._late.count(len(unparsed))
        try:
            self._feed(unparsed)
        except Exception as error:  # noqa: BLE001 (a bug of ours ends one request, not the run)
            failure = parse_failure(error)
            if is_of_http(error):
                with suppress(RequestFailedError):
                    # What came before it was in order, and is kept.
                    self._pass_on_body()
            self._fail(failure.failure, str(failure))
        else:
            self._bound_bare()

    def _feed(self, unparsed: list[Read]) -> None:
        for read in unparsed:
            if self._parser is None:
                self._take_unasked(read[0])
                continue
            self._read = read
            self._parser.feed_data(read[0])
            count = len(self._pieces) - len(self._moments)
            if not count:
                self._bare_bytes += len(read[0])
                continue
            if count > 1 or len(read[0]) > self._late.sure_bytes:
                self._late.look(len(self._moments), count, read)
            self._moments += [read[1]] * count
            self._bare_bytes = 0
        self._pass_on_body()

    def _bound_bare(self) -> None:
        """Bound data without a piece of the body; after the head such data shows no life."""
        if not self._bare_bytes or self._parser is None:
            return
        if self._bare_bytes > MAX_HEAD_BYTES:
            what = "headers" if self._head is None else "trailers"
            self._fail(Failure.TOO_LARGE, f"response {what} of more than {MAX_HEAD_BYTES} bytes")
        elif self._head is not None:
            self.heard_ns = self._body_ns

    # What httptools calls…

    def on_message_begin(self) -> None:
        """Learn that a response begins; one that no request asked for spoils the connection for any other."""
        if self._parser is None:
            self.reusable, self.unasked = False, True

    def on_header(self, name: bytes, value: bytes) -> None:
        """Keep a header, but no trailer."""
        if self._head is None:
            self._headers.append((name, value))

    def on_headers_complete(self) -> None:
        """Pass the head on, unless more heads follow."""
        assert self._parser is not None  # noqa: S101 (set while a response is read)
        status = self._parser.get_status_code()
        if status in _INFORMATIONAL:
            return
        # What an informational response had for a body, against all rules, is not part of the answer.
        self._forget_pieces()
        if self._first_byte_ns < self._begun_ns:
            self._require_asked(status)
        self._head = head(status, tuple(self._headers))
        if self._head.chunked and self._head.header("content-length") is not None:
            # The chunks count, and nothing that follows can be trusted (RFC 9112, 6.3).
            self.reusable = False
        self._body_ns = self._read[1]
        self._late.begin(chunked=self._head.chunked)
        if self._observer is not None:
            if self._upload is not None:
                self._observer.upload = self._upload.payload()
            self._observer.head(self._head, self._first_byte_ns)

    def _require_asked(self, status: int) -> None:
        try:
            require_asked(status, self._first_byte_ns, self._begun_ns, is_reused=self._is_kept)
        except RequestFailedError:
            self.stale = status == REQUEST_TIMEOUT_408
            self.unasked = not self.stale
            raise

    def on_message_complete(self) -> None:
        """End the response, unless only informational."""
        if self._head is None:
            self._headers = []
        elif self._observer is not None:
            self._pass_on_body()
            self._end(framed=True)

    def _pass_on_body(self) -> None:
        pieces, moments = self._pieces[:], self._moments
        if count := len(pieces) - len(moments):
            self._late.look_at_end(pieces, count, self._read)
            moments += [self._read[1]] * count
        late = self._forget_pieces()
        if self._observer is not None and self._head is not None and pieces:
            self._body_ns = moments[-1]
            is_urgent = self._observer.body(pieces, moments, late)
            self._in_no_hurry = not is_urgent and self._head is not None and self._head.chunked

    def _forget_pieces(self) -> dict[int, Late]:
        """Drop the pieces; return the bounds of pieces that may precede the stamps."""
        self._pieces.clear()
        self._moments = []
        return self._late.take()

    # The end of a response…

    def _lost(self, error: OSError | None) -> None:
        """Tell the observer whether the connection's end is that of the response or a failure."""
        self.catch_up()
        if self._observer is None:
            self.close()
        elif self._head is not None and self._head.until_close and error is None:
            self._end(framed=False)
        elif self._first_byte_ns:
            self._fail(Failure.TRUNCATED, f"the connection ended in the middle of the response{_of(error)}")
        else:
            self.stale = may_have_crossed(self._begun_ns)
            self._fail(Failure.RESET, f"the connection ended before a response{_of(error)}")

    def _end(self, *, framed: bool) -> None:
        observer, self._observer, self._is_kept = self._observer, None, True
        parser, self._parser = self._parser, None
        keep_alive = parser is not None and parser.should_keep_alive()
        self.reusable = self.reusable and framed and keep_alive and not self._unsent
        if not self.reusable:
            self.close()
        if observer is not None:
            observer.ended(self._read[1], framed=framed)

    def _fail(self, failure: str, message: str) -> None:
        observer = self._observer
        self.close()
        if observer is not None:
            observer.failed(failure, message, time.monotonic_ns())


def _of(error: OSError | None) -> str:
    return f" ({error})" if error is not None else ""
