"""The decoder of streams of server-sent events (WHATWG HTML, 9.2)."""

from __future__ import annotations

from collections import deque
from typing import Final, NamedTuple

from loadgen.driver.client.failure import Failure
from loadgen.driver.client.memory_bounds import MAX_FRAME_BYTES
from loadgen.driver.errors import RequestFailedError

_BOM: Final = b"\xef\xbb\xbf"
_ERROR: Final = b"error"
_ERRORS: Final = (_ERROR, b"exception")
_MOST_COMMENTS: Final = 16
_LONGEST_COMMENT: Final = 1024


class Frame(NamedTuple):
    """One complete event: the payload, and the name, if any."""

    data: bytes
    event: bytes = b""

    @property
    def is_error(self) -> bool:
        """Whether the name is that of an error."""
        return self.event.lower().endswith(_ERRORS)


class SSEDecoder:
    """Turns the bytes of an event stream, split anyhow, into frames."""

    def __init__(self) -> None:
        self._line = bytearray()
        self._data: list[bytes] = []
        self._comments: deque[bytes] = deque(maxlen=_MOST_COMMENTS)
        self._event = b""
        self._size = 0
        self._after_cr = False
        self._at_start = True
        self._inside = False

    def feed(self, received: bytes) -> list[Frame]:
        """Take bytes; return the completed frames; raise `too_large` for one beyond `MAX_FRAME_BYTES`."""
        if received.startswith(b"data: ") and received.endswith(b"\n\n") and not self._inside:
            # One whole frame, or several, without anything unusual: what nearly all reads bring.
            if received.find(b"\n", 0, -2) < 0 and b"\r" not in received:
                self._at_start = False
                return [Frame(received[6:-2])]
            payloads = received[6:-2].split(b"\n\ndata: ")
            if received.count(b"\n") == 2 * len(payloads) and b"\r" not in received:
                self._at_start = False
                return list(map(Frame, payloads))
        if self._at_start:
            received = bytes(self._line) + received
            self._line.clear()
            if len(received) < len(_BOM) and _BOM.startswith(received):
                self._line += received
                self._inside = bool(received)
                return []
            self._at_start = False
            received = received.removeprefix(_BOM)
        if self._after_cr and received:
            self._after_cr = False
            received = received.removeprefix(b"\n")
        frames: list[Frame] = []
        for line in self._lines(received):
            self._take(line.rstrip(b"\r\n"), frames)
        self._bound()
        self._inside = bool(self._line or self._data or self._event or self._after_cr)
        return frames

    @property
    def between_frames(self) -> bool:
        """Whether the bytes so far, of which there are some, end where a frame can begin."""
        return not (self._inside or self._at_start)

    @property
    def can_pass_over(self) -> bool:
        """Whether a whole frame that comes next is independent of the bytes before, and need not be fed."""
        return not (self._inside or self._line)

    def pass_over(self) -> None:
        """Learn that a whole frame was not fed."""
        self._at_start = self._after_cr = False

    @property
    def in_event(self) -> bool:
        """Whether the bytes so far end inside an event, before the last of its data begins.

        A line of data that breaks off cannot be distinguished from one that lacks its end of line.
        """
        name, _, value = self._line.partition(b":")
        if name == b"data" and value.strip():
            return False
        return bool(name) or bool(self._event and not self._data)

    def close(self) -> list[Frame]:
        """Take the end of the stream: a last frame may lack its blank line, some servers leave it out."""
        frames: list[Frame] = []
        if self._line:
            self._take(bytes(self._line), frames)
            self._line.clear()
        self._take(b"", frames)
        return frames

    def _lines(self, received: bytes) -> list[bytes]:
        """Cut off the lines that are complete, and keep the rest.

        The rest grows in place, so that a line of megabytes in small pieces costs no more than other bytes.
        """
        lines = received.splitlines(keepends=True)
        rest = lines.pop() if lines and lines[-1][-1:] not in (b"\n", b"\r") else b""
        if lines:
            lines[0] = bytes(self._line) + lines[0]
            self._line.clear()
            # A CR at the very end is a line end already; should an LF follow, it belongs to it.
            self._after_cr = not rest and lines[-1].endswith(b"\r")
        self._line += rest
        return lines

    def _take(self, line: bytes, frames: list[Frame]) -> None:
        if not line:
            self._dispatch(frames)
            return
        name, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        if name == b"data":
            self._data.append(value)
            self._size += len(line)
        elif name == b"event":
            self._event = value
        elif name == _ERROR:
            self._data.append(value)
            self._size += len(line)
            self._event = _ERROR
        elif not name:
            self._comments.append(value[:_LONGEST_COMMENT])
        elif line.startswith(b"{") and line.endswith(b"}"):
            frames.append(Frame(line, self._event))

    def _dispatch(self, frames: list[Frame]) -> None:
        """Add the event that a blank line ends, if it has data or is an error."""
        if self._data:
            frames.append(Frame(b"\n".join(self._data), self._event))
        elif self._event and (error := Frame(b"\n".join(self._comments), self._event)).is_error:
            frames.append(error)
        if self._data:
            self._data, self._size = [], 0
        self._comments.clear()
        self._event = b""

    def _bound(self) -> None:
        if self._size + len(self._line) > MAX_FRAME_BYTES:
            raise RequestFailedError(Failure.TOO_LARGE, f"a frame of more than {MAX_FRAME_BYTES} bytes")
