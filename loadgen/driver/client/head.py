"""Heads of HTTP/1.1 responses, and failures to parse one."""

from __future__ import annotations

import time
from functools import lru_cache
from typing import TYPE_CHECKING, Final

import httptools

from lazy_dataclasses import dataclass, field
from loadgen.driver.client.arrival import clock_set_back_ns
from loadgen.driver.client.body_format import EVENT_STREAM
from loadgen.driver.client.failure import Failure
from loadgen.driver.errors import RequestFailedError

if TYPE_CHECKING:
    from collections.abc import Mapping

_OK: Final = 200
_CACHE_SIZE: Final = 32
STATING: Final = frozenset(
    {
        *(b"server-timing", b"openai-processing-ms", b"x-envoy-upstream-service-time"),
        *(b"x-kong-upstream-latency", b"x-litellm-response-duration-ms"),
        *(b"x-queue-time", b"x-inference-time", b"x-total-time"),
    }
)
"""Fields with times of the request by a server or gateway."""


@dataclass(frozen=True, slots=True)
class Head:
    """The start of a response."""

    status: int
    fields: tuple[tuple[bytes, bytes], ...]  #: the header fields as they came; see `header`
    ok: bool
    event_stream: bool
    encoding: str  #: how the body is compressed, be it for the way only; empty when it is not
    chunked: bool
    until_close: bool
    media_type: str = ""
    stated: Mapping[str, str] = field(default_factory=dict)  #: times of the request by a server or gateway

    def header(self, name: str) -> str | None:
        """The value of a header by name, in lower case; of a repeated one the last, None without one."""
        wanted = name.encode()
        values = (value for field, value in reversed(self.fields) if field.lower() == wanted)
        return next((value.decode("latin-1") for value in values), None)


@lru_cache(_CACHE_SIZE)
def head(status: int, fields: tuple[tuple[bytes, bytes], ...]) -> Head:
    """Parse the header fields of a response; one server's fields are mostly constant within a second."""
    values = {name.lower(): value for name, value in fields}
    codings, further = values.get(b"transfer-encoding", b"").strip().lower(), ""
    chunked = codings == b"chunked"
    if codings and not chunked:
        listed = [coding.strip(" \t") for coding in codings.decode("latin-1").split(",")]
        further = ", ".join(coding for coding in listed if coding not in ("chunked", "identity", ""))
        chunked = "chunked" in listed
    encoding = values.get(b"content-encoding", b"").strip().lower().decode("latin-1")
    media_type = values.get(b"content-type", b"").partition(b";")[0].strip().lower().decode("latin-1")
    return Head(
        status,
        fields,
        ok=status == _OK,
        event_stream=media_type == EVENT_STREAM,
        encoding=further if encoding in ("", "identity") else encoding,
        chunked=chunked,
        until_close=b"content-length" not in values and not chunked,
        media_type=media_type,
        stated={} if STATING.isdisjoint(values) else _stated(fields),
    )


def _stated(fields: tuple[tuple[bytes, bytes], ...]) -> Mapping[str, str]:
    from loadgen.driver.client.server_statements import headers_stated

    return headers_stated(fields, STATING)


def is_of_http(error: Exception) -> bool:
    """Whether the parser raised the error: the bytes are not HTTP/1.1."""
    return isinstance(error, httptools.HttpParserError) and not isinstance(
        error, httptools.HttpParserCallbackError
    )


def parse_failure(error: Exception) -> RequestFailedError:
    """The failure for an error: invalid HTTP/1.1, a refusal by the observer, or a bug."""
    cause: BaseException = error
    if isinstance(error, httptools.HttpParserCallbackError):
        cause = error.__context__ or error
    if isinstance(cause, RequestFailedError):
        return cause
    if is_of_http(error):
        return RequestFailedError(Failure.MALFORMED_FRAME, f"the response is not HTTP/1.1: {error}")
    if isinstance(error, httptools.HttpParserUpgrade):
        message = "the server switches from HTTP/1.1 to another protocol"
        return RequestFailedError(Failure.MALFORMED_FRAME, message)
    return RequestFailedError(Failure.CLIENT_BUG, f"{type(cause).__name__}: {cause}")


REQUEST_TIMEOUT_408: Final = 408
"""With it a server may close an idle connection, and a request that is on its way to it may be sent again on
another one (RFC 9110, 15.5.9)."""

CROSSING_NS: Final = 1_000_000_000
"""The longest time between a request and an end of its connection that was under way before it."""


def may_have_crossed(begun_ns: int) -> bool:
    """Whether a connection that ends now may have been closed before the server read the request.

    A server that closes kept connections does so within a round trip of the request; one that gives a request
    up has worked on it for longer. An acknowledgement proves nothing: kernels acknowledge unread bytes.
    """
    return time.monotonic_ns() - begun_ns <= CROSSING_NS


def require_asked(status: int, first_byte_ns: int, begun_ns: int, *, is_reused: bool) -> None:
    """Raise `unasked_response` for a response that cannot be the answer to the request, by times in ns.

    On a new connection a server may refuse the first request before it comes, when it has too much to do: an
    error status is for that request, because there is no other.
    """
    if first_byte_ns + clock_set_back_ns() < begun_ns and (is_reused or status == _OK):
        early_ms = (begun_ns - first_byte_ns) / 1e6
        raise RequestFailedError(
            Failure.UNASKED_RESPONSE,
            f"a response with status {status} arrived {early_ms:.3f} ms before the request was sent; the "
            "server sent an unsolicited response",
        )
