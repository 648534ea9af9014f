"""The decoder of streams of JSON lines, which few servers send."""

from __future__ import annotations

from loadgen.driver.client.sse import Frame, SSEDecoder


class JsonLinesDecoder(SSEDecoder):
    """Decodes JSON lines, split anyhow, into one frame for each line."""

    def feed(self, received: bytes) -> list[Frame]:
        """Take bytes; return the completed lines; raise `too_large` for a line beyond `MAX_FRAME_BYTES`."""
        first, *rest = received.split(b"\n")
        self._line += first
        lines = []
        for part in rest:
            lines.append(bytes(self._line))
            self._line = bytearray(part)
        self._bound()
        return [Frame(line) for line in lines if line.strip()]

    @property
    def between_frames(self) -> bool:
        """Whether a frame need not be fed: never."""
        return False

    can_pass_over = between_frames

    @property
    def in_event(self) -> bool:
        """Whether the bytes so far end inside a line."""
        return bool(self._line.strip()) and not self._line.rstrip().endswith((b"}", b"]"))

    def close(self) -> list[Frame]:
        """Take the end of the body; the last line may lack a line end."""
        return self.feed(b"\n")
