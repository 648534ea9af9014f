"""The bytes of a stream's events, as HTTP chunks, encoded before they are needed.

Streams of one protocol and model differ in the answer's id alone, so events are kept with a stand-in in the
place of the id. It is as long as an id, so that the length that an HTTP chunk begins with stays true.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Final
from uuid import uuid4

from loadgen.mock_endpoint import wire

if TYPE_CHECKING:
    from collections.abc import Sequence

    from loadgen.mock_endpoint.ask import Ask

STAND_IN: Final = uuid4().hex
"""What stands where an answer's id is to be; made up anew by every process, so that nobody can say it."""

HOLE: Final = STAND_IN.encode()

LAST_CHUNK: Final = b"0\r\n\r\n"
"""What ends a body in HTTP chunks."""

_MOST_KEPT: Final = 64


class Events(dict[str, bytes]):
    """The events of all streams of one kind: text to the event that carries it, made when first asked for.

    Args:
        dialect: The protocol.
        ask: What one of the streams was asked for by.
    """

    def __init__(self, dialect: wire.Dialect, ask: Ask) -> None:
        super().__init__()
        self._frames = wire.Frames(dialect, ask, STAND_IN)
        self._counted = ask.include_usage
        self._together: dict[tuple[str, ...], list[bytes]] = {}
        self._ends: dict[tuple[str, int, int], bytes] = {}
        role = self._frames.role()
        self.role = _chunk(role) if role else b""
        """The event that holds only the role; empty in a protocol without roles."""

    def __missing__(self, text: str) -> bytes:
        event = self[text] = _chunk(self._frames.piece(text))
        return event

    def together(self, texts: Sequence[str]) -> list[bytes]:
        """The events of several texts, cut at the places of the id, and kept for the next to say the same."""
        key = tuple(texts)
        cut = self._together.get(key)
        if cut is None:
            if len(self._together) >= _MOST_KEPT:
                self._together.clear()
            cut = self._together[key] = b"".join(map(self.__getitem__, texts)).split(HOLE)
        return cut

    def end(self, finish_reason: str, input_tokens: int, output_tokens: int, serial: bytes) -> bytes:
        """What follows the last token of the answer with this id, up to the end of the response."""
        key = (finish_reason, input_tokens, output_tokens) if self._counted else (finish_reason, 0, 0)
        end = self._ends.get(key)
        if end is None:
            if len(self._ends) >= _MOST_KEPT:
                self._ends.clear()
            end = _chunk(self._frames.end(finish_reason, wire.usage(*key[1:]))) + LAST_CHUNK
            self._ends[key] = end
        return end.replace(HOLE, serial)


class EventShelf:
    """The events of every kind of stream that was asked for within the present second."""

    def __init__(self) -> None:
        self._kinds: dict[tuple[str, str, bool], Events] = {}
        self._second = 0

    def of(self, dialect: wire.Dialect, ask: Ask) -> Events:
        """The events that a request gets."""
        # An event says the second in which its answer was made.
        second = int(time.time())
        if second != self._second or len(self._kinds) >= _MOST_KEPT:
            self._kinds.clear()
            self._second = second
        key = (dialect.id_prefix, ask.model, ask.include_usage)
        events = self._kinds.get(key)
        if events is None:
            events = self._kinds[key] = Events(dialect, ask)
        return events


def _chunk(data: bytes) -> bytes:
    return b"%x\r\n%b\r\n" % (len(data), data)
