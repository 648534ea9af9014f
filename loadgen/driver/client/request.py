"""One request of the HTTP client."""

from __future__ import annotations

from typing import NamedTuple


class Request(NamedTuple):
    """What is asked.

    Attributes:
        method: `GET` or `POST`.
        path: The operation, below the endpoint's prefix.
        request_id: Travels as `X-Request-Id`.
        body: JSON; empty for none.
        traceparent: Travels as `traceparent`; empty for none.
    """

    method: str
    path: str
    request_id: str
    body: bytes = b""
    traceparent: str = ""
