"""A phase of a session: every worker gets the phase, and issues a share."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Phase:
    """One phase of issuing, with requests numbered from 0 over all workers.

    Where samples are conversations, conversations are counted instead of requests.

    Attributes:
        name: `warmup` or `performance`.
        start_ns: When it begins, CLOCK_MONOTONIC.
        requests: The number of requests; None where only time ends it.
        end_ns: Nothing is scheduled from here on; None where only the count ends it.
        first: The number in the session that request 0 has; request k has the k-th after it. Below 0, for a
            warm-up that time ends: request k then has the k-th before it. So it goes back through the samples
            from the last one on, and reaches the measured ones as late as possible.
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
        """Whether the phase has a request of this number."""
        return self.requests is None or request < self.requests

    def is_over(self, at_ns: int) -> bool:
        """Whether the phase has ended at a moment."""
        return self.end_ns is not None and at_ns >= self.end_ns
