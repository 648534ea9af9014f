"""A part of a session in which requests are issued: what every worker is told, and does its share of."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Phase:
    """One phase of issuing; its requests are numbered from 0, over all workers.

    Attributes:
        name: `warmup` or `performance`.
        start_ns: When it begins, CLOCK_MONOTONIC.
        requests: So many are issued; None where only time ends it.
        end_ns: Nothing is scheduled from here on; None where only the count ends it.
        first_sample: The sample that request 0 asks; request k asks the k-th after it.
    """

    name: str
    start_ns: int
    requests: int | None = None
    end_ns: int | None = None
    first_sample: int = 0

    def has(self, number: int) -> bool:
        """Whether there is a request of this number."""
        return self.requests is None or number < self.requests

    def is_last(self, number: int) -> bool:
        """Whether no request has a greater number."""
        return number + 1 == self.requests

    def is_over(self, at_ns: int) -> bool:
        """Whether nothing is scheduled at a moment any more."""
        return self.end_ns is not None and at_ns >= self.end_ns
