"""The beginning and the end of a long stream, without imports: the command server loads this file."""

from __future__ import annotations


class BoundedOutput:
    """The retained part of a stream.

    Args:
        size: The number of bytes to keep: half of the beginning and half of the end.
    """

    def __init__(self, size: int) -> None:
        self._half = size // 2
        self._first = bytearray()
        self._last = bytearray()
        self.total = 0

    def add(self, data: bytes) -> None:
        """Take the next bytes."""
        self.total += len(data)
        room = max(0, self._half - len(self._first))
        self._first += data[:room]
        self._last += data[room:]
        if len(self._last) > 2 * self._half:
            del self._last[: len(self._last) - self._half]

    @property
    def content(self) -> bytes:
        """The bytes; where some are left out, a line in the middle says how many."""
        last = bytes(self._last[max(0, len(self._last) - self._half) :])
        left_out = self.total - len(self._first) - len(last)
        note = f"\n[{left_out:,} bytes are left out]\n".encode() if left_out else b""
        return bytes(self._first) + note + last
