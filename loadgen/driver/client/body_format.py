"""The form of a response body, by its bytes: server-sent events, JSON lines or one JSON text."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, Final

import orjson

from loadgen.driver.client import server_json

if TYPE_CHECKING:
    from collections.abc import Iterable

EVENT_STREAM: Final = "text/event-stream"
_FIELDS: Final = (b"data:", b"event:", b"id:", b"retry:", b"error:", b":")
_BLANK: Final = b" \t\r\n"
_BLANK_OR_BOM: Final = _BLANK + b"\xef\xbb\xbf"
"""Bytes without meaning before a body, in any order, so that no split of the body matters."""
_LONGEST_LINE: Final = 256 * 1024
"""A first line that is longer is that of one JSON text."""


class BodyFormat(Enum):
    """The form of a body."""

    EVENTS = "event stream"
    LINES = "JSON lines"
    WHOLE = "JSON text"


class FormatFinder:
    """Finds the form of a body from the first bytes.

    Args:
        media_type: The media type that the head names; empty where it names none.
    """

    def __init__(self, media_type: str) -> None:
        self._media_type = media_type
        self._start = bytearray()
        self._is_json = self._has_line = False

    def look(self, pieces: Iterable[bytes]) -> BodyFormat | None:
        """The form, by the next pieces of the body; None while undecided."""
        for piece in pieces:
            form = self._look(piece)
            if form is not None:
                return form
        return None

    def at_end(self) -> BodyFormat:
        """The form of a body that ended undecided."""
        return (
            BodyFormat.EVENTS if self._media_type == EVENT_STREAM and not self._is_json else BodyFormat.WHOLE
        )

    def _look(self, piece: bytes) -> BodyFormat | None:
        if self._is_json and b"\n" not in piece and not self._has_line:
            self._start += piece
            return BodyFormat.WHOLE if len(self._start) > _LONGEST_LINE else None
        self._start += piece
        start = bytes(self._start).lstrip(_BLANK_OR_BOM)
        if start[:1] in (b"{", b"["):
            self._is_json = True
            return self._look_at_json(start)
        if not start:
            self._start.clear()
            return None
        if self._media_type == EVENT_STREAM:
            return BodyFormat.WHOLE if start[:1] == b"<" else BodyFormat.EVENTS
        if start.startswith(_FIELDS):
            return BodyFormat.EVENTS
        return None if any(field.startswith(start) for field in _FIELDS) else BodyFormat.WHOLE

    def _look_at_json(self, start: bytes) -> BodyFormat | None:
        """Distinguish lines from one text: the first line is complete JSON, and another line follows."""
        line, newline, rest = start.partition(b"\n")
        if not newline:
            return None
        if not self._has_line:
            try:
                server_json.loads(line)
            except orjson.JSONDecodeError:
                return BodyFormat.WHOLE
            self._has_line = True
        return BodyFormat.LINES if rest.strip(_BLANK) else None


def deviation(form: BodyFormat, media_type: str) -> str | None:
    """The form of a body and the media type, if in disagreement."""
    right = media_type == EVENT_STREAM if form is BodyFormat.EVENTS else "json" in media_type
    return None if right else f"{form.value} as {media_type or 'no media type'}"
