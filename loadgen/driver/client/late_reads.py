"""Reads of which some bytes may have arrived before the stamp; `_wire.c` has the same."""

from __future__ import annotations

import fcntl
import termios
from typing import TYPE_CHECKING, Final

from loadgen.driver.client.arrival_bounds import Late

if TYPE_CHECKING:
    from loadgen.driver.client.arrival import StampingSocket

ONE_SEGMENT: Final = 1200
"""The length up to which a read with one HTTP chunk came in one segment, from any network."""

_DOUBT_NS: Final = 20_000
"""An arrival that is known to within 20 us counts as exact: busy clocks are compared no better."""

_WINDOW: Final = 4
"""Segments that can fill the congestion window of a connection that has sent little (RFC 3390)."""

_ANY_NUMBER: Final = 1 << 30
_DONE: Final = b"data: [DONE]"

Read = tuple[bytes, int, int]
"""The bytes of a read, the stamp, and a time before any of them arrived, both in ns of CLOCK_MONOTONIC."""


class SegmentCounter:
    """Compares a connection's received segments with the reads."""

    __slots__ = ("_extra", "_sock", "reads")

    def __init__(self, sock: StampingSocket, *, fresh: bool) -> None:
        self.reads = 0  #: how many reads have returned data since; kept by the owner of the socket
        self._sock = sock
        self._extra = 0
        if not fresh:
            received = sock.segments() or 0
            # What waits to be read would look like segments that came together.
            self._extra = received if self._is_drained() else -1

    def together(self) -> int:
        """How many more segments than reads came since the last call; any number where not counted.

        A segment that has come since the last read looks as one too many.
        """
        segments = self._sock.segments()
        if segments is None:
            return _ANY_NUMBER
        extra = segments - self.reads
        more = max(0, extra - self._extra)
        if more and self._is_drained():
            self._extra = extra
        return more

    def _is_drained(self) -> bool:
        # A peek would take the error of a reset, and the next read would be an orderly end.
        try:
            return not any(fcntl.ioctl(self._sock, termios.FIONREAD, bytes(4)))
        except (OSError, ValueError):
            return False


class LateReads:
    """The pieces of a body that may have arrived before the stamp.

    Attributes:
        sure_bytes: A read of one piece need only be looked at if it has more bytes.
    """

    __slots__ = ("_held_ns", "_one_piece", "_segments", "_together", "pieces", "sure_bytes")

    def __init__(self, segments: SegmentCounter) -> None:
        #: What is known of them, by their place among those that were not passed on yet.
        self.pieces: dict[int, Late] = {}
        self._segments = segments
        self._together: int | None = None
        self.begin(chunked=False)

    def begin(self, *, chunked: bool) -> None:
        """Begin a response's body: whether each piece is sent in one write."""
        self.sure_bytes = self._one_piece = ONE_SEGMENT if chunked else 0
        self._held_ns = 0

    def count(self, reads: int) -> None:
        """Count reads, which are parsed next."""
        self._segments.reads += reads
        self._together = None

    def look(self, first: int, count: int, read: Read, *, ends: bool = False) -> None:
        """Check whether the pieces of a read came in one segment; `ends`: further bytes follow the pieces."""
        _, at_ns, quiet_ns = read
        held_ns, self._held_ns, self.sure_bytes = self._held_ns, 0, self._one_piece
        together = 0
        if at_ns - quiet_ns > _DOUBT_NS:
            if self._together is None:
                self._together = self._segments.together()
            together = self._together
        if not (together or held_ns):
            return
        since_ns, many = held_ns or quiet_ns, together >= _WINDOW - 1
        last = first + count - 1
        self.pieces.update(dict.fromkeys(range(first, last), Late(since_ns, whole=True)))
        self.pieces[last] = Late(since_ns, whole=ends or many or held_ns > 0)
        if many:
            # The next read is looked at whatever it is.
            self._held_ns, self.sure_bytes = quiet_ns, -1

    def look_at_end(self, pieces: list[bytes], count: int, read: Read) -> None:
        """Check the last pieces of a response, which precede the end of the framing."""
        if count > 1 or self._held_ns or not pieces[-1].startswith(_DONE):
            self.look(len(pieces) - count, count, read, ends=True)

    def take(self) -> dict[int, Late]:
        """The bounds of the pieces passed on now."""
        pieces, self.pieces = self.pieces, {}
        return pieces
