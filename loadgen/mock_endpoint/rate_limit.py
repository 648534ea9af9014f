"""A limit of the rate: requests above it are answered 429, with the time to wait in Retry-After."""

from __future__ import annotations

import math
import time
from typing import Final

from loadgen.mock_endpoint.ask import RefusedRequest
from loadgen.mock_endpoint.errors import MockOptionsError
from workloads import units

_TOO_MANY: Final = 429


class RateLimit:
    """A number of requests per span of time. A span begins with the first request after the last span.

    Args:
        requests: How many requests are answered.
        span_s: Within how long.
    """

    def __init__(self, requests: int, span_s: float) -> None:
        self._requests = requests
        self._span_s = span_s
        self._end_s = 0.0
        self._left = 0

    def refusal(self) -> RefusedRequest | None:
        """Count a request; return its refusal if too many came before."""
        now_s = time.monotonic()
        if now_s >= self._end_s:
            self._end_s, self._left = now_s + self._span_s, self._requests
        if self._left:
            self._left -= 1
            return None
        return RefusedRequest(
            _TOO_MANY,
            f"Rate limit reached: {self._requests} requests per {units.duration_text(self._span_s)}",
            code="rate_limit_exceeded",
            kind="requests",
            retry_after_s=math.ceil(self._end_s - now_s),
        )


def read(text: str | None) -> RateLimit | None:
    """Parse a limit: `60/1m` is sixty requests a minute.

    Raises:
        MockOptionsError: It is not a whole number above 0 and a time above 0.
    """
    if text is None:
        return None
    requests, _, span = text.partition("/")
    try:
        limit = RateLimit(int(requests), units.seconds(span))
        is_possible = int(requests) > 0 and units.seconds(span) > 0
    except ValueError:
        is_possible = False
    if not is_possible:
        raise MockOptionsError(f"rate_limit: {text!r} is not a number of requests per time: write 60/1m")
    return limit
