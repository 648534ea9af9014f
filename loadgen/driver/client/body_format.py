"""The form of a response body, by the bytes: server-sent events, JSON lines or one JSON text."""

from __future__ import annotations

import re
from enum import Enum
from typing import TYPE_CHECKING, Final

import orjson

from loadgen.driver.client import server_json
from loadgen.driver.client.codec import read_error
from loadgen.driver.client.failure import Failure
from loadgen.driver.errors import MalformedResponseError, RequestFailedError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, MutableSet

    from loadgen.driver.client.codec import Codec, Delta

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
    """Finds the form of a body from the first bytes."""

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


_EXCERPT_BYTES: Final = 4096


def read_whole(codec: Codec, body: bytes, media_type: str, deviations: MutableSet[str]) -> Delta:
    """Read an answer in one JSON text; raise `RequestFailedError` (`malformed_frame`) for anything else."""
    decode: Callable[[bytes, MutableSet[str]], Delta] | None = getattr(codec, "decode", None)
    try:
        if decode is not None:
            return decode(body, deviations)
        payload = server_json.loads(body, deviations)
        return codec.whole(payload)._replace(statements=server_json.statements(payload))
    except (orjson.JSONDecodeError, MalformedResponseError) as error:
        title = page_title(body)
        kind = media_type or "no media type"
        reason = f"a response that the protocol does not know, of {kind} ({error}): {excerpt(body)}"
        if title is not None:
            reason = f"the answer is {described(title)}, not an API response: is the URL right?"
        raise RequestFailedError(Failure.MALFORMED_FRAME, reason) from error


def error_text(body: bytes) -> str:
    """The text of an HTTP error: the message in the body, or the start of the body."""
    try:
        payload = server_json.loads(body)
    except orjson.JSONDecodeError:
        title = page_title(body)
        return excerpt(body) if title is None else described(title)
    message = read_error(payload) if isinstance(payload, dict) else None
    return message or excerpt(body)


def excerpt(data: bytes) -> str:
    """The start of a piece of the body, for a message, shortened where that cuts no secret in two."""
    return data[:_EXCERPT_BYTES].decode(errors="replace")


_BEGINS: Final = re.compile(rb"\s*<(?:!doctype\s+html|html|head|body)", re.IGNORECASE)
_TITLE: Final = re.compile(rb"<title[^>]*>(.{0,200}?)</title>", re.IGNORECASE | re.DOTALL)
_HEADING: Final = re.compile(rb"<h1[^>]*>([^<]{0,200})</h1>", re.IGNORECASE)
_LOOKED_AT: Final = 16 * 1024


def page_title(body: bytes) -> str | None:
    """The title of a web page, else the first heading, else empty; None for another body."""
    start = body[:_LOOKED_AT]
    if not _BEGINS.match(start):
        return None
    title = _TITLE.search(start) or _HEADING.search(start)
    from html import unescape

    return " ".join(unescape(title[1].decode(errors="replace")).split()) if title else ""


def described(title: str) -> str:
    """The words for a web page in a message, by title."""
    return f"a web page, {title!r}" if title else "a web page"
