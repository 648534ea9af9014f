"""The bytes of HTTP/1.1 around a body: heads, chunks, and the other ways of saying where a body ends."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from loadgen.mock_endpoint.scenarios.steps import Close, ScenarioScript, Send

if TYPE_CHECKING:
    from collections.abc import Sequence

    from loadgen.mock_endpoint.scenarios.steps import Step

EVENTS: Final = "text/event-stream"
JSON: Final = "application/json"
LAST_CHUNK: Final = b"0\r\n\r\n"

_REASONS: Final = {
    200: "OK",
    302: "Found",
    401: "Unauthorized",
    404: "Not Found",
    429: "Too Many Requests",
    500: "Internal Server Error",
    503: "Service Unavailable",
}


def head(content_type: str = EVENTS, *fields: str, status: int = 200, version: str = "1.1") -> bytes:
    """The status line and the header fields, each `Name: value`."""
    line = f"HTTP/{version} {status} {_REASONS[status]}"
    return "\r\n".join([line, f"Content-Type: {content_type}", *fields, "", ""]).encode()


def chunk(data: bytes) -> bytes:
    """One HTTP chunk."""
    return b"%x\r\n%b\r\n" % (len(data), data)


def chunked(body: Sequence[Send], *, head_at_ms: float = 0, content_type: str = EVENTS) -> list[Step]:
    """A body in HTTP chunks, one for each piece."""
    start = Send(head_at_ms, head(content_type, "Transfer-Encoding: chunked"))
    pieces = [replace(piece, data=chunk(piece.data)) for piece in body]
    return [start, *pieces, Send(body[-1].at_ms, LAST_CHUNK)]


def stream(
    body: Sequence[Send], *, head_at_ms: float = 0, content_type: str = EVENTS, counted: bool = True
) -> ScenarioScript:
    """A complete response with a body in HTTP chunks."""
    return ScenarioScript(
        tuple(chunked(body, head_at_ms=head_at_ms, content_type=content_type)), counted=counted
    )


def unended(body: Sequence[Send]) -> list[Step]:
    """A body in HTTP chunks, without the last one."""
    return chunked(body)[:-1]


def until_close(body: Sequence[Send], version: str = "1.1") -> list[Step]:
    """A body that only the end of the connection ends."""
    return [Send(0, head(EVENTS, "Connection: close", version=version)), *body, Close(body[-1].at_ms)]


def whole(
    at_ms: float,
    body: bytes,
    *fields: str,
    status: int = 200,
    content_type: str = JSON,
    length: int | None = None,
) -> Send:
    """A response in one piece; `length` is the announced length, by default the true one."""
    size = len(body) if length is None else length
    return Send(at_ms, head(content_type, f"Content-Length: {size}", *fields, status=status) + body)
