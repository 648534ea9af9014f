"""Plain connections whose I/O runs in compiled code, in a thread without the interpreter (`_wire.c`).

The thread reads, stamps and parses; what came is handed over in batches, and everything is decided here. The
contract of these connections is that of `Connection`, which does the same in Python.
"""

from __future__ import annotations

import asyncio
import errno
import os
import time
from enum import IntEnum
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from loadgen.driver.client.head import (
    REQUEST_TIMEOUT_408,
    Head,
    head,
    may_have_crossed,
    parse_failure,
    require_asked,
)
from loadgen.driver.client.memory_bounds import UPLOAD_BYTES
from loadgen.driver.errors import RequestFailedError

if TYPE_CHECKING:
    from loadgen.driver.client._wire import Body
    from loadgen.driver.client.arrival import StampingSocket
    from loadgen.driver.client.exchange import Exchange
    from loadgen.driver.client.plain_protocols import NextTurns
    from loadgen.driver.client.plain_request import PlainRequest
    from loadgen.driver.client.tls import TLSLayer
    from recorder.schema import Row

_AT_ONCE: Final = 32
"""How many batches are taken in one turn of the event loop."""

_READS: Final = 64
"""How much is read at once of a connection whose time is over: the server may send without end."""

_CACHED_HEADS: Final = 32
_QUIET: Final = 0
_AFTER_RESPONSE: Final = 2


class End(IntEnum):
    """The end of a response in a batch; the numbers are those of `_wire.c`."""

    OPEN = 0
    ENDED = 1
    CUT = 2
    MALFORMED = 3
    HEADERS_TOO_LARGE = 4
    TRAILERS_TOO_LARGE = 5
    UPGRADED = 6
    NO_MEMORY = 7
    IDLE_READABLE = 8
    """No response: an idle connection has something to read, or was closed."""
    CONNECTED = 9
    """The TCP handshake is over; `ReceivedBatch.error` says how."""


_ENDED: Final = End.ENDED.value
_IDLE_READABLE: Final = End.IDLE_READABLE.value


class ReceivedBatch(NamedTuple):
    """The data of one connection since the batch before. Times are ns of CLOCK_MONOTONIC, 0 for none."""

    number: int  #: of the connection
    sent_ns: int  #: the last bytes of the request, which the kernel did not take at once, were sent after it
    sent_by_ns: int  #: and before this
    head: bytes | None  #: the head of the response as it came; None where it came before, or is not complete
    first_byte_ns: int  #: when the response began
    body: Body | None  #: pieces of the body, and when they arrived; None for no pieces
    end: int  #: an `End`
    at_ns: int  #: when the response ended, or the handshake
    #: The `errno` of a connection that was cut or refused, 0 for none, negative a code of OpenSSL; of
    #: malformed framing the parser's state.
    error: int
    framed: bool  #: whether HTTP says that the response is complete, and not only the end of the connection
    reusable: bool  #: whether the connection can carry another request
    unasked: bool  #: whether a response came that no request had asked for
    stale: bool  #: whether the connection ended without a byte of a response
    announced: bool  #: of a plain request, whether the rows have the first chunk


_RELAY: Final = 0  #: the number of no connection
_WHOLE: Final = len(ReceivedBatch._fields)
_END: Final = ReceivedBatch._fields.index("end")


class WireLoop:
    """The thread's side in the event loop: hands batches to connections."""

    def __init__(self) -> None:
        from loadgen.driver.client._wire import Wire

        self.wire = Wire()
        self.loop = asyncio.get_running_loop()
        self._connections: dict[int, WireConnection | _Handshake | NextTurns] = {}
        self._connected: dict[int, int] = {}
        self.loop.add_reader(self.wire.fileno(), self.deliver)

    async def connect(self, sock: StampingSocket, address: Any) -> int:
        """Connect a socket that does not block, or raise OSError; return when, ns of CLOCK_MONOTONIC."""
        if (error := sock.connect_ex(address)) == errno.EINPROGRESS:
            error = sock.connect_ex(address)  # within a machine, the handshake is over by now
        if not error:
            return time.monotonic_ns()
        if error != errno.EALREADY:
            raise OSError(error, os.strerror(error))
        descriptor, handshake = sock.fileno(), _Handshake(self.loop)
        number = self.wire.connect(descriptor)
        self._connections[number] = handshake
        try:
            connected_ns = await handshake.over
        except BaseException:
            sock.detach()
            self.forget(number)
            raise
        self._connected[descriptor] = number
        return connected_ns

    def add(self, connection: WireConnection, descriptor: int, tls: TLSLayer | None) -> int:
        """Take over a connected socket with the TLS, if any; return the number of the connection."""
        number = self._connected.pop(descriptor, None) or self.wire.add(descriptor, tls and tls.native)
        self._connections[number] = connection
        return number

    def relay(self, relay: NextTurns | None) -> None:
        """Have a relay learn of the requests that leave where others end (`_relay.c`); None: none leaves."""
        if relay is None:
            self._connections.pop(_RELAY, None)
        else:
            self._connections[_RELAY] = relay

    def forget(self, number: int) -> None:
        """Close a connection."""
        del self._connections[number]
        self.wire.forget(number)

    async def caught_up(self) -> int | None:
        """Pass on all received data; return the moment up to which none is missing, ns of CLOCK_MONOTONIC."""
        until_ns = self.wire.catch_up()
        while self.deliver():  # noqa: ASYNC110 (it takes few turns)
            await asyncio.sleep(0)
        return until_ns

    def close(self) -> None:
        """End the thread."""
        self.loop.remove_reader(self.wire.fileno())
        self.wire.close()
        self._connections.clear()

    def deliver(self, limit: int = _AT_ONCE) -> bool:
        """Pass on `limit` batches at most; with 0, only what the relay has to learn."""
        batches = self.wire.collect(limit)
        for batch in batches:
            if (connection := self._connections.get(batch[0])) is not None:
                connection.take(batch)
        return bool(batches)


class _Handshake:
    """A socket that is being connected; `over`: when connected, ns of CLOCK_MONOTONIC."""

    __slots__ = ("over",)

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.over: asyncio.Future[int] = loop.create_future()

    def take(self, fields: tuple[Any, ...]) -> None:
        """Take the fields of a `ReceivedBatch`."""
        batch = ReceivedBatch(*fields)
        if self.over.done():
            return
        if batch.error:
            self.over.set_exception(OSError(batch.error, os.strerror(batch.error)))
        else:
            self.over.set_result(batch.at_ns)


class WireConnection:
    """Carries one request at a time; the contract is that of `Connection`."""

    __slots__ = (
        "_begun_ns",
        "_is_calm",
        "_is_kept",
        "_loop",
        "_number",
        "_observer",
        "_plain",
        "_request_bytes",
        "reusable",
        "stale",
        "unasked",
    )

    def __init__(self, sock: StampingSocket, loop: WireLoop, tls: TLSLayer | None = None) -> None:
        self.reusable = True
        self.stale = self.unasked = self._is_kept = self._is_calm = False
        self._loop = loop
        self._observer: Exchange | None = None
        self._plain: PlainRequest | None = None
        self._begun_ns = self._request_bytes = 0
        self._number: int | None = loop.add(self, sock.fileno(), tls)
        sock.detach()

    @property
    def heard_ns(self) -> int:
        """When the last bytes of the response arrived; 0 before the first."""
        return 0 if self._number is None else self._loop.wire.heard(self._number)

    def request(self, data: bytes, observer: Exchange) -> None:
        """Send one request; the observer receives everything else."""
        self._observer = observer
        self._is_calm = False
        self._request_bytes = len(data)
        assert self._number is not None  # noqa: S101 (a closed connection carries nothing)
        self._begun_ns, by_ns, sent = self._loop.wire.request(self._number, data)
        if sent:
            observer.sent(self._begun_ns, by_ns)
        else:
            self.catch_up()

    def plain(
        self, data: bytes, issued: Row, members: str, observer: PlainRequest, *, answers: bool, relays: bool
    ) -> bool:
        """Send one request that compiled code follows; tell whether this connection can carry one.

        `issued` has the code 0 if the log has the issue; `members` are those of the event of the sending.
        """
        sent_ns = self._loop.wire.plain(self._number, data, members, answers, relays, issued)
        if sent_ns is None:
            return False
        self._plain = observer
        self._is_calm = False
        self._request_bytes = len(data)
        self._begun_ns = sent_ns or issued[1]
        observer.sent_ns = sent_ns
        return True

    def relayed(self) -> tuple[int, int, int]:
        """The ticket of the request that the relay has sent, when issued and when sent; zeros for none."""
        if self._number is None:
            return 0, 0, 0
        ticket, issued_ns, sent_ns = self._loop.wire.relayed(self._number)
        if ticket:
            self._is_kept, self._begun_ns = True, sent_ns or issued_ns
        return ticket, issued_ns, sent_ns

    def resume(self) -> None:
        """Have Python follow the rest of a request that compiled code has followed so far."""
        self.read_on()
        if self._plain is not None:
            self._go_on(self._plain, announced=False)

    def read_on(self) -> None:
        """Read and parse the socket's data, without waiting for a turn."""
        self._take(_READS)

    def catch_up(self) -> None:
        """Tell the observer of everything that has been read so far."""
        self._take(0)

    def close(self) -> None:
        """Close the connection at once; the observer has all read data."""
        if self._number is None:
            return
        if self._observer is not None or self._plain is not None:
            self.read_on()
        self._forget()

    def close_if_idle(self) -> None:
        """Close the connection, unless in use."""
        if self._observer is None and self._plain is None:
            self.close()

    def is_stale(self) -> bool:
        """Whether the server closed, or wrote to, this idle connection."""
        if self._number is None:
            return True
        state = self._loop.wire.idle(self._number)
        if state != _QUIET:
            self.unasked = state == _AFTER_RESPONSE
            self._forget()
        return state != _QUIET

    def take(self, fields: tuple[Any, ...]) -> None:
        """Take the fields of a `ReceivedBatch`, or the end of a plain request."""
        if self._plain is not None:
            if len(fields) < _WHOLE:
                plain, self._plain, self._is_kept = self._plain, None, True
                plain.learn()
                plain.ended(fields)
                return
            self._go_on(self._plain, announced=fields[-1])
        if self._observer is not None:
            self._take_part(fields, self._observer)
        elif fields[_END] == _IDLE_READABLE:
            self.is_stale()

    def _go_on(self, plain: PlainRequest, *, announced: bool) -> None:
        plain.learn()
        self._plain, self._observer = None, plain.resume(announced=announced)

    def _take_part(self, fields: tuple[Any, ...], observer: Exchange) -> None:
        """Take a part of a response."""
        _, sent_ns, sent_by_ns, raw_head, first_byte_ns, body, end, at_ns, _, framed, reusable, *_ = fields
        try:
            if sent_ns:
                observer.sent(sent_ns, sent_by_ns)
            if raw_head is not None:
                self._take_head(raw_head, first_byte_ns, observer)
            if body is not None and not (observer.received(body) or end or self._is_calm):
                self._be_calm()
        except Exception as error:  # noqa: BLE001 (a bug of ours ends one request, not the run)
            if end != End.MALFORMED:
                failure = parse_failure(error)
                self._fail(failure.failure, str(failure))
                return
        if end == _ENDED and reusable:
            self._observer, self._is_kept = None, True
            observer.ended(at_ns, framed=framed)
        elif end:
            self._end(ReceivedBatch(*fields))

    def _be_calm(self) -> None:
        """Have the rest of the response in larger batches: nothing is urgent any more."""
        self._is_calm = True
        if self._number is not None:
            self._loop.wire.calm(self._number)

    def _take(self, reads: int) -> None:
        if self._number is None:
            return
        batch = self._loop.wire.take(self._number, reads)
        if self._plain is not None:
            self._loop.deliver(0)  # the relay learns first which request this is
        if batch is not None:
            self.take(batch)

    def _take_head(self, raw: bytes, first_byte_ns: int, observer: Exchange) -> None:
        response = parsed_head(raw)
        if first_byte_ns < self._begun_ns:
            try:
                require_asked(response.status, first_byte_ns, self._begun_ns, is_reused=self._is_kept)
            except RequestFailedError:
                self.stale = response.status == REQUEST_TIMEOUT_408
                self.unasked = not self.stale
                raise
        if self._request_bytes >= UPLOAD_BYTES and self._number is not None:
            # Not needed by small requests.
            from loadgen.driver.client.upload import uploaded

            observer.upload = uploaded(*self._loop.wire.upload(self._number))
        observer.head(response, first_byte_ns)

    def _end(self, batch: ReceivedBatch) -> None:
        """Take the end of a response after which the connection can carry no other request."""
        if batch.end != _ENDED:
            self.stale = batch.stale and may_have_crossed(self._begun_ns)
            from loadgen.driver.client.wire_failure import failure_of

            begun = bool(batch.first_byte_ns)
            self._fail(*failure_of(End(batch.end).name, batch.error, has_begun=begun))
            return
        self.unasked = batch.unasked
        observer = self._observer
        self._forget()
        if observer is not None:
            observer.ended(batch.at_ns, framed=batch.framed)

    def _fail(self, failure: str, message: str) -> None:
        observer, self._observer = self._observer, None
        self.close()
        if observer is not None:
            observer.failed(failure, message, time.monotonic_ns())

    def _forget(self) -> None:
        self._observer = None
        self.reusable = False
        if self._number is not None:
            self._loop.forget(self._number)
            self._number = None


@lru_cache(_CACHED_HEADS)
def parsed_head(raw: bytes) -> Head:
    """Read a head whose form is right, from its status line to its blank line."""
    status_line, *lines = raw.removesuffix(b"\r\n\r\n").split(b"\r\n")
    fields = (line.partition(b":") for line in lines)
    return head(int(status_line[9:12]), tuple((name, value.strip(b" \t")) for name, _, value in fields))
