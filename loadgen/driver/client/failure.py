"""The failures of a request: stable names, meanings, and the side at fault."""

from __future__ import annotations

from enum import StrEnum
from typing import Final, Literal, Self

Side = Literal["client", "network", "server"]
"""`client`: a limit of ours, a setting of ours, or a bug of ours. `network`: either side's."""


class Failure(StrEnum):
    """The names in the log and in every report, except HTTP errors, which are `http_<code>`."""

    blames: Side
    meaning: str

    def __new__(cls, name: str, blames: Side, meaning: str) -> Self:
        """A name with a definition."""
        member = str.__new__(cls, name)
        member._value_, member.blames, member.meaning = name, blames, meaning
        return member

    REFUSED = (
        *("refused", "server"),
        "No connection: nothing listens on the port, or no route leads to the host.",
    )
    DNS = "dns", "network", "The host name has no address."
    TLS = "tls", "server", "The TLS handshake failed: certificate, name or version."
    CONNECT_TIMEOUT = (
        *("connect_timeout", "network"),
        "No connection within `--connect-timeout`: address, TCP and TLS handshake together.",
    )
    FIRST_BYTE_TIMEOUT = (
        *("first_byte_timeout", "server"),
        "Not a byte of a response within `--first-byte-timeout` after the request's last byte.",
    )
    IDLE_TIMEOUT = (
        *("idle_timeout", "server"),
        "The response began, and then not a byte of it came for as long as `--idle-timeout`.",
    )
    TOTAL_TIMEOUT = (
        *("total_timeout", "client"),
        "No complete response within `--timeout`, a deadline of the client.",
    )
    RESET = "reset", "server", "The connection was closed or reset before the first byte of a response."
    UNASKED_RESPONSE = (
        *("unasked_response", "server"),
        "A response arrived before the request was sent: the answer to another request, or to none.",
    )
    TRUNCATED = "truncated", "server", "The response ended before it was complete."
    ABORTED = (
        *("aborted", "server"),
        "A complete response whose finish reason says that the server gave the answer up.",
    )
    ERROR_FRAME = "error_frame", "server", "A status of 200, and then an error inside the body."
    MALFORMED_FRAME = (
        *("malformed_frame", "server"),
        "A part of the body is not the JSON that the protocol asks for, or the HTTP framing is broken.",
    )
    EMPTY_ANSWER = (
        *("empty_answer", "server"),
        "A complete response with a finish reason and no text: the model ended its answer at once.",
    )
    EMPTY_RESPONSE = (
        "empty_response",
        "server",
        "A complete response with neither a token nor a finish reason.",
    )
    WRONG_RESULTS = "wrong_results", "server", "A vector or score is missing, not finite, or of another size."
    TOO_LARGE = (
        *("too_large", "client"),
        "A head, a frame or a body beyond the client's bounds, or more than it keeps of all responses.",
    )
    DECODE_ERROR = (
        *("decode_error", "server"),
        "The body is compressed although the client asked for one that is not.",
    )
    CANCELLED = (
        *("cancelled", "client"),
        "The client cancelled the request, because the run was aborted: a `CANCELLED` event, and no `ERROR`.",
    )
    CLIENT_LIMIT = "client_limit", "client", "The machine ran out of file descriptors or of ports."
    WORKER_LOST = (
        *("worker_lost", "client"),
        "The worker process that had the request was killed, or crashed.",
    )
    AGENT_ERROR = (
        *("agent_error", "client"),
        "The code of an episode, or an agent, failed before its first request.",
    )
    CLIENT_BUG = "client_bug", "client", "An unexpected exception in this program."


HTTP_BLAMES: Final = "server; for 4xx but 408, 425 and 429 the client"
HTTP_MEANING: Final = (
    "An HTTP status other than 200, e.g. `http_429`. A redirect is one too: none is followed, "
    "so that no key travels to where it was not given for."
)

_PASSING: Final = frozenset({408, 425, 429})
"""Client errors by their number that say `not now` rather than `not this`."""

_SERVER_ERRORS: Final = range(500, 600)
_HTTP: Final = "http_"


def http(status: int) -> str:
    """The failure name of an HTTP status other than 200."""
    return f"{_HTTP}{status}"


def mendable(name: str) -> bool:
    """Whether another attempt at a failed request may succeed."""
    status = _status(name)
    if status is None:
        return name in _MENDABLE
    return status in _PASSING or status in _SERVER_ERRORS


_MENDABLE: Final = frozenset(
    {
        *(Failure.REFUSED, Failure.DNS, Failure.CONNECT_TIMEOUT, Failure.FIRST_BYTE_TIMEOUT),
        *(Failure.IDLE_TIMEOUT, Failure.RESET, Failure.UNASKED_RESPONSE, Failure.TRUNCATED),
        *(Failure.ABORTED, Failure.ERROR_FRAME),
    }
)


def _status(name: str) -> int | None:
    """The status in the name of an HTTP failure."""
    return int(name.removeprefix(_HTTP)) if name.startswith(_HTTP) else None
