"""A part of a session in which requests are issued: what every worker is told, and does its share of."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Phase:
    """One phase of issuing; its requests are numbered from 0, over all workers.

    Where a request begins a conversation, what is counted here are conversations.

    Attributes:
        name: `warmup` or `performance`.
        start_ns: When it begins, CLOCK_MONOTONIC.
        requests: So many are issued; None where only time ends it.
        end_ns: Nothing is scheduled from here on; None where only the count ends it.
        first: The number in the session that request 0 has; request k has the k-th after it. Below 0, for a
            warm-up that time ends: request k then has the k-th before it. So it goes back through the samples
            from the last one on, and meets those that are measured as late as can be.
    """

    name: str
    start_ns: int
    requests: int | None = None
    end_ns: int | None = None
    first: int = 0

    def number(self, request: int) -> int:
        """The number in the session of a request of this phase."""
        return self.first + request if self.first >= 0 else self.first - request

    def has(self, request: int) -> bool:
        """Whether there is such a request."""
        return self.requests is None or request < self.requests

    def is_last(self, request: int) -> bool:
        """Whether no request comes after it."""
        return request + 1 == self.requests

    def is_over(self, at_ns: int) -> bool:
        """Whether nothing is scheduled at a moment any more."""
        return self.end_ns is not None and at_ns >= self.end_ns
