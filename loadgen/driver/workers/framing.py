"""Frames over a non-blocking stream socket: a payload after a length prefix."""

from __future__ import annotations

from collections import deque
from struct import Struct
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import asyncio
    import socket
    from collections.abc import Callable, Sequence

READ_BYTES: Final = 262_144
"""How much is read at a time: what the kernel keeps for a socket by default."""

_LENGTH: Final = Struct("<I")


def framed(payload: bytes) -> bytes:
    """A payload with a length prefix."""
    return _LENGTH.pack(len(payload)) + payload


class FrameReader:
    """Reassembles frames from a stream of bytes."""

    def __init__(self) -> None:
        self._pieces = bytearray()

    def feed(self, data: bytes) -> Sequence[memoryview]:
        """The payloads that end in these bytes, as views of memory that does not change."""
        pieces = self._pieces
        if pieces:
            pieces += data
            if len(pieces) < _LENGTH.size or len(pieces) < _frame_end(pieces, 0):
                return ()
            data = bytes(pieces)
            pieces.clear()
        view, start, whole = memoryview(data), 0, []
        while len(data) >= start + _LENGTH.size and len(data) >= (end := _frame_end(data, start)):
            whole.append(view[start + _LENGTH.size : end])
            start = end
        pieces += view[start:]
        return whole


def _frame_end(data: bytes | bytearray, start: int) -> int:
    """The end of the frame that starts at an offset."""
    (length,) = _LENGTH.unpack_from(data, start)
    return start + _LENGTH.size + int(length)


class Outbox:
    """Sends frames, and buffers the bytes beyond the socket's window.

    Nothing is raised when the other end is gone: the reader learns that.

    Args:
        sock: Where to; it does not block.
        loop: Says when the socket takes more.
        on_sent: Called whenever something has been sent that had to wait.

    Attributes:
        bytes: How many wait.
        events: How many events the waiting frames hold, the one that is sent in part included.
    """

    def __init__(
        self,
        sock: socket.socket,
        loop: asyncio.AbstractEventLoop,
        on_sent: Callable[[], None] | None = None,
    ) -> None:
        self.bytes = 0
        self.events = 0
        self._sock = sock
        self._loop = loop
        self._on_sent = on_sent
        self._unsent: deque[tuple[memoryview, int]] = deque()

    @property
    def empty(self) -> bool:
        """Whether everything has been sent."""
        return not self._unsent

    def send(self, frame: bytes, events: int = 0) -> None:
        """Send one or several frames, with this many events, now or as soon as the socket is writable."""
        self._unsent.append((memoryview(frame), events))
        self.bytes += len(frame)
        self.events += events
        if len(self._unsent) == 1:
            self._push()
            if self._unsent:
                self._loop.add_writer(self._sock, self._on_writable)

    def _on_writable(self) -> None:
        self._push()
        if not self._unsent:
            self._loop.remove_writer(self._sock)
        if self._on_sent is not None:
            self._on_sent()

    def _push(self) -> None:
        """Send as much as the socket accepts."""
        try:
            while self._unsent:
                frame, events = self._unsent[0]
                sent = self._sock.send(frame)
                self.bytes -= sent
                if sent < len(frame):
                    self._unsent[0] = (frame[sent:], events)
                    continue
                self._unsent.popleft()
                self.events -= events
        except BlockingIOError:
            pass
        except OSError:
            self._unsent.clear()
            self.bytes = self.events = 0
