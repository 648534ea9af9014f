"""How a request can fail: stable names, and which side each one blames."""

from __future__ import annotations

from enum import StrEnum
from typing import Final


class Failure(StrEnum):
    """The names in the log and in every report. HTTP errors are not among them: they are `http_<code>`."""

    REFUSED = "refused"
    """No connection: nothing listens on the port, or no route leads to the host."""
    DNS = "dns"
    """The host name has no address."""
    TLS = "tls"
    """The TLS handshake failed: certificate, name or version."""
    CONNECT_TIMEOUT = "connect_timeout"
    """No connection within the time allowed for it."""
    TOTAL_TIMEOUT = "total_timeout"
    """No complete response within `--timeout`: our deadline, not the server's word."""
    RESET = "reset"
    """The connection was closed or reset before the first byte of a response."""
    TRUNCATED = "truncated"
    """The connection ended in the middle of the response."""
    ERROR_FRAME = "error_frame"
    """A status of 200, and then an error inside the body."""
    MALFORMED_FRAME = "malformed_frame"
    """A part of the body is not the JSON that the protocol asks for, or the HTTP framing is broken."""
    EMPTY_RESPONSE = "empty_response"
    """A complete response without a single token."""
    TOO_LARGE = "too_large"
    """A line, a frame or a body beyond the client's bounds."""
    DECODE_ERROR = "decode_error"
    """The body is compressed although the client asked for one that is not."""
    CLIENT_LIMIT = "client_limit"
    """This machine ran out of file descriptors or of ports."""
    WORKER_LOST = "worker_lost"
    """The worker process that had the request was killed, or crashed."""
    CLIENT_BUG = "client_bug"
    """An unexpected exception in this program."""


def http(status: int) -> str:
    """The failure name of an HTTP status other than 200."""
    return f"http_{status}"


_NETWORK: Final = frozenset({Failure.DNS, Failure.CONNECT_TIMEOUT})
_CLIENT: Final = frozenset(
    {
        Failure.TOTAL_TIMEOUT,
        Failure.TOO_LARGE,
        Failure.CLIENT_LIMIT,
        Failure.WORKER_LOST,
        Failure.CLIENT_BUG,
    },
)


def blame(name: str) -> str:
    """Which side a failure blames: `client` (our limit or our bug), `network`, or `server`."""
    if name in _CLIENT:
        return "client"
    return "network" if name in _NETWORK else "server"


class RequestFailedError(Exception):
    """Ends a request: carries the failure's name beside the message.

    Attributes:
        failure: A name of the taxonomy.
    """

    def __init__(self, failure: str, message: str) -> None:
        super().__init__(message)
        self.failure = failure
