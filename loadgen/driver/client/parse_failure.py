"""The meaning of an error raised while parsing a response."""

from __future__ import annotations

import httptools

from loadgen.driver.client.failure import Failure
from loadgen.driver.errors import RequestFailedError


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
