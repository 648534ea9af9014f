"""A socket that records the traffic, for a client library without such records.

Whatever a library does above, its bytes leave and arrive here: so here is where it shows when the last of a
request went to the kernel, when the first of the response came, and why a connection broke.
"""

from __future__ import annotations

import socket
import time
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, Final

from loadgen.driver.client.arrival import StampingSocket
from loadgen.driver.client.late_reads import SegmentCounter
from loadgen.driver.client.memory_bounds import MAX_HEAD_BYTES
from loadgen.driver.client.unasked import is_unasked
from loadgen.driver.errors import HeadTooLargeError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

_READ_BYTES: Final = 64 * 1024
_START_BYTES: Final = 16
_buffer: Final = memoryview(bytearray(_READ_BYTES))
"""All sockets share it, because each read is copied before the next can happen."""


class Passage(ABC):
    """The passage of one request and response through a socket. Times are ns of CLOCK_MONOTONIC."""

    def __init__(self) -> None:
        #: Whether what the socket's owner sends from now on ends with the last byte of the request.
        self.last = False
        self.sent = False  #: whether the kernel has that byte
        self.head = False  #: whether the head of the response is complete; set from outside
        #: What was received up to the read that completed it; later on, as set from outside, what was
        #: received since the last of the body.
        self.bare_bytes = 0
        self.begun_ns = 0  #: when the first byte of the request was handed to the kernel; 0 before
        self.is_reused = False
        self.first_ns = 0  #: arrival of the first bytes of the response; 0 before
        self.heard_ns = 0  #: arrival of the last ones so far, over TLS after the head; 0 before
        self.encrypted = False  #: over TLS, where a read may be a ticket and not of the response
        self.broken: OSError | None = None  #: why nothing more can be read; None after an orderly end too

    @abstractmethod
    def on_sent(self, at_ns: int, by_ns: int) -> None:
        """The kernel has taken the last byte: handed over at the first time, taken by the second."""

    @abstractmethod
    def on_body(self) -> None:
        """Data was read after the head; the socket's owner takes the data next."""


class ObservedSocket(StampingSocket):
    """A TCP socket below an asyncio transport."""

    #: Who is notified. What arrives between two requests, when none is set, ends the connection: it could be
    #: taken for the answer to the next.
    passage: Passage | None = None
    used: bool = False
    connecting_ns: int = 0
    speaking_ns: int = 0  #: when the first bytes were sent; 0 before
    counted: SegmentCounter | None = None
    count_unasked: Callable[[], object] = staticmethod(lambda: None)

    def carry(self, passage: Passage) -> None:
        """Carry a request from now on."""
        passage.is_reused = self.used
        self.passage, self.used = passage, True
        self.counted = self.counted or SegmentCounter(self, fresh=False)

    def is_stale(self) -> bool:
        """Whether the server closed, or wrote to, an idle connection, unnoticed by the owner."""
        try:
            self._note_unasked(super().recv(_START_BYTES, socket.MSG_PEEK))
        except BlockingIOError:
            return False
        except OSError:
            return True
        return True

    def _note_unasked(self, data: bytes) -> None:
        if is_unasked(data):
            self.count_unasked()

    def connect(self, address: Any) -> None:
        """Begin to connect, and note when."""
        self.connecting_ns = time.monotonic_ns()
        super().connect(address)

    def send(self, data: Any, flags: int = 0) -> int:
        """Send as `socket.send` does, and note when."""
        at_ns = time.monotonic_ns()
        count = super().send(data, flags)
        self._note_sent(at_ns, time.monotonic_ns(), complete=count == len(data))
        return count

    def sendmsg(self, buffers: Iterable[Any], *args: Any) -> int:
        """Send as `socket.sendmsg` does, and note when."""
        pieces = list(buffers)
        at_ns = time.monotonic_ns()
        count = super().sendmsg(pieces, *args)
        self._note_sent(at_ns, time.monotonic_ns(), complete=count == sum(map(len, pieces)))
        return count

    def recv(self, bufsize: int, flags: int = 0) -> bytes:
        """Read as `socket.recv` does, but no more at once than fits a stream."""
        count = self.receive([_buffer[:bufsize]], flags)
        return bytes(_buffer[:count])

    def receive(self, buffers: Sequence[Any], flags: int = 0) -> int:
        """Read into buffers, and record the stamp; raise `HeadTooLargeError` beyond the bound of a head."""
        passage, last_ns = self.passage, self.arrival_ns
        if passage is not None and passage.bare_bytes > MAX_HEAD_BYTES:
            what = "trailers" if passage.head else "headers"
            passage.broken = HeadTooLargeError(f"response {what} of more than {MAX_HEAD_BYTES} bytes")
            raise passage.broken
        try:
            count = super().receive(buffers, flags)
        except OSError as error:
            if passage is not None and not isinstance(error, BlockingIOError):
                passage.broken = error
            raise
        if not count:
            self.arrival_ns = last_ns
            return count
        if self.counted is not None and not flags:
            self.counted.reads += 1
        if passage is None:
            if not self.used:
                return count
            self._note_unasked(bytes(memoryview(buffers[0])[: min(count, _START_BYTES)]))
            return 0
        if passage.head or not passage.encrypted:
            passage.heard_ns = self.arrival_ns
        passage.bare_bytes += count
        if passage.head:
            passage.on_body()
        else:
            passage.first_ns = passage.first_ns or self.arrival_ns
        return count

    def _note_sent(self, at_ns: int, by_ns: int, *, complete: bool) -> None:
        self.speaking_ns = self.speaking_ns or at_ns
        passage = self.passage
        if passage is not None:
            passage.begun_ns = passage.begun_ns or at_ns
        if complete and passage is not None and passage.last and not passage.sent:
            passage.sent = True
            passage.on_sent(at_ns, by_ns)
