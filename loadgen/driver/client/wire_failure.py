"""The failure with which a response ended on a connection of compiled code."""

from __future__ import annotations

import os
from typing import Final

from loadgen.driver.client.compiled import compiled_function
from loadgen.driver.client.failure import Failure
from loadgen.driver.client.memory_bounds import MAX_HEAD_BYTES

tls_reason: Final = compiled_function("tls_reason")

_FAULTS: Final = (
    *("invalid status line or header field", "", "", "invalid chunk size", "invalid chunk extension"),
    *("invalid end of a chunk size", "", "no end of line after a chunk", "no end of line after a chunk"),
    *(*("invalid trailer",) * 4, "invalid end of the trailers"),
    *("", "a line of the head ends in LF without CR"),
    "the head has a Content-Length and a Transfer-Encoding that is not chunked",
)
"""The malformed part, by the state of the parser (`http1_state` in `_http1.h`)."""


def failure_of(end: str, error: int, *, has_begun: bool) -> tuple[str, str]:
    """Name the failure with which a response ended.

    Args:
        end: The name of an `End`.
        error: See `ReceivedBatch`.
        has_begun: Whether a byte of the response has arrived.
    """
    match end:
        case "CUT":
            reason = tls_reason(-error) if error < 0 else OSError(error, os.strerror(error))
            why = f" ({reason})" if error else ""
            if has_begun:
                return Failure.TRUNCATED, f"the connection ended in the middle of the response{why}"
            return Failure.RESET, f"the connection ended before a response{why}"
        case "MALFORMED":
            return Failure.MALFORMED_FRAME, f"the response is not HTTP/1.1: {_FAULTS[error]}"
        case "UPGRADED":
            return Failure.MALFORMED_FRAME, "the server switches from HTTP/1.1 to another protocol"
        case "HEADERS_TOO_LARGE" | "TRAILERS_TOO_LARGE":
            what = "headers" if end == "HEADERS_TOO_LARGE" else "trailers"
            return Failure.TOO_LARGE, f"response {what} of more than {MAX_HEAD_BYTES} bytes"
        case _:
            return Failure.TOO_LARGE, "no memory is left for the response"
