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

    def resent(self) -> Request:
        """Return the request as it goes out again over another connection."""
        return self._replace(request_id=resent_id(self.request_id))


def attempt_id(sample_uuid: str, attempt: int) -> str:
    """Return the id of an attempt, from 1: servers refuse, or mix up, requests that share one."""
    return sample_uuid if attempt == 1 else f"{sample_uuid}-{attempt}"


def resent_id(request_id: str) -> str:
    """Return the id of a request that goes out again over another connection."""
    return f"{request_id}-resent"
