"""The bytes of a stream's events, as HTTP chunks, encoded ahead of time.

Streams of one protocol and model differ in the answer's id alone, so bytes are kept cut at the places of the
id: `serial.join(cut)` makes those of one answer. While they are encoded a stand-in has its place, which is as
long as an id, so that the length that an HTTP chunk begins with is true.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, Final
from uuid import uuid4

from loadgen.mock_endpoint import wire
from loadgen.mock_endpoint.token import SILENT

if TYPE_CHECKING:
    from collections.abc import Sequence

    from loadgen.mock_endpoint.ask import MockRequest
    from loadgen.mock_endpoint.token import Token

Cut = list[bytes]
"""Bytes, cut at the places of the answer's id."""

_STAND_IN: Final = uuid4().hex
_HOLE: Final = _STAND_IN.encode()
_LAST_CHUNK: Final = b"0\r\n\r\n"
_MOST_KEPT: Final = 64


def serial(number: int) -> bytes:
    """The unique part of an answer's id, as long as the placeholder."""
    return b"%032x" % number


class Events(dict["Token", Cut]):
    """The events of all streams of one kind: token to event, made on first use; a silent token has none.

    Args:
        dialect: The protocol.
        ask: What one of the streams was asked for by.
        chunked: Whether events are chunks, as in HTTP/1.1; else the end of the connection ends the stream.

    Attributes:
        role: The event that holds only the role; empty in a protocol without roles.
    """

    def __init__(self, dialect: wire.WireProtocol, ask: MockRequest, *, chunked: bool = True) -> None:
        super().__init__()
        self._frames = wire.StreamFrames(dialect, ask, _STAND_IN)
        self._counted = ask.include_usage
        self._together: dict[tuple[Token, ...], Cut] = {}
        self._ends: dict[tuple[str, int, int, int | None], Cut] = {}
        self._framed = _chunk if chunked else bytes
        self._last_chunk = _LAST_CHUNK if chunked else b""
        role = self._frames.role()
        self.role = _cut(self._framed(role) if role else b"")

    def __missing__(self, token: Token) -> Cut:
        event = self[token] = _cut(b"" if token == SILENT else self._framed(self._frames.piece(token)))
        return event

    def together(self, tokens: Sequence[Token]) -> Cut:
        """The events of several tokens; cached for equal answers."""
        key = tuple(tokens)
        cut = self._together.get(key)
        if cut is None:
            if len(self._together) >= _MOST_KEPT:
                self._together.clear()
            cut = self._together[key] = _cut(b"".join(_HOLE.join(self[token]) for token in tokens))
        return cut

    def end(self, finish_reason: str, counted: Any, stated: wire.Statements = wire.UNSAID) -> Cut:
        """The bytes from the last token to the end of the response; `counted` as `wire.usage` takes it."""
        if stated is not wire.UNSAID:
            usage = wire.usage(*counted)
            return _cut(self._framed(self._frames.end(finish_reason, usage, stated)) + self._last_chunk)
        counts = counted if self._counted else (0, 0)
        key = (finish_reason, *counts)
        cut = self._ends.get(key)
        if cut is None:
            if len(self._ends) >= _MOST_KEPT:
                self._ends.clear()
            events = self._frames.end(finish_reason, wire.usage(*counts))
            cut = self._ends[key] = _cut(self._framed(events) + self._last_chunk)
        return cut


class EventShelf:
    """The events of every kind of stream that was asked for within the present second."""

    def __init__(self) -> None:
        self._kinds: dict[tuple[str, str, bool, bool], Events] = {}
        self._second = 0

    def of(self, dialect: wire.WireProtocol, ask: MockRequest, *, chunked: bool) -> Events:
        """The events that a request gets."""
        # An event says the second in which its answer was made.
        second = int(time.time())
        if second != self._second or len(self._kinds) >= _MOST_KEPT:
            self._kinds.clear()
            self._second = second
        key = (dialect.id_prefix, ask.model, ask.include_usage, chunked)
        events = self._kinds.get(key)
        if events is None:
            events = self._kinds[key] = Events(dialect, ask, chunked=chunked)
        return events


def _cut(data: bytes) -> Cut:
    return data.split(_HOLE)


def _chunk(data: bytes) -> bytes:
    return b"%x\r\n%b\r\n" % (len(data), data)
