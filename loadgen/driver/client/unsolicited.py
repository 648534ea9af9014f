"""Responses that no request asked for: they must not be taken for the answer to the next (RFC 9112, 6.3).

A server cannot answer a request of which it has no byte. So a response whose first byte arrived before the
first byte of the request left is not the answer to it. No client can distinguish one that arrives after that
from the answer: HTTP/1.1 has nothing but the order.
"""

from __future__ import annotations

import time
from typing import Final

from loadgen.driver.client.arrival import clock_set_back_ns
from loadgen.driver.client.failure import Failure
from loadgen.driver.errors import RequestFailedError

REQUEST_TIMEOUT_408: Final = 408
"""With it a server may close an idle connection, and a request that is on its way to it may be sent again on
another one (RFC 9110, 15.5.9)."""

CROSSING_NS: Final = 1_000_000_000
"""The longest time between a request and an end of its connection that was under way before it."""

_OK: Final = 200
_RESPONSE: Final = b"HTTP/1."
_FAREWELLS: Final = (b"HTTP/1.1 408", b"HTTP/1.0 408")


def is_unasked(data: bytes) -> bool:
    """Whether bytes that arrived while no request was pending begin a response, and no farewell."""
    return data.startswith(_RESPONSE) and not data.startswith(_FAREWELLS)


def may_have_crossed(begun_ns: int) -> bool:
    """Whether a connection that ends now may have been closed before the server read the request.

    A server that closes kept connections does so within a round trip of the request; one that gives a request
    up has worked on it for longer. An acknowledgement proves nothing: kernels acknowledge unread bytes.
    """
    return time.monotonic_ns() - begun_ns <= CROSSING_NS


def require_asked(status: int, first_byte_ns: int, begun_ns: int, *, is_reused: bool) -> None:
    """Demand that a response can be the answer to its request. Times are ns of CLOCK_MONOTONIC.

    On a new connection a server may refuse the first request before it comes, when it has too much to do: an
    error status is for that request, because there is no other.

    Args:
        status: Of the response.
        first_byte_ns: When its first byte arrived, by the kernel's stamp.
        begun_ns: When the first byte of the request was handed to the kernel.
        is_reused: Whether the connection has carried a request before.

    Raises:
        RequestFailedError: `unasked_response`.
    """
    if first_byte_ns + clock_set_back_ns() < begun_ns and (is_reused or status == _OK):
        early_ms = (begun_ns - first_byte_ns) / 1e6
        raise RequestFailedError(
            Failure.UNASKED_RESPONSE,
            f"a response with status {status} arrived {early_ms:.3f} ms before the request was sent; the "
            "server sent an unsolicited response",
        )
