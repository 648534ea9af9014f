"""How a session is getting on: counters for whoever wants to show them while it runs."""

from __future__ import annotations

from collections import Counter, deque
from dataclasses import dataclass, field
from statistics import median
from typing import Final

RECENT: Final = 200
"""How many of the latest TTFTs the live median is taken over."""


@dataclass(slots=True)
class Progress:
    """Counters of the session, those of the warm-up apart.

    Attributes:
        phase: The phase that it is in.
        phase_started_ns: Since when, CLOCK_MONOTONIC.
        issued: Measured requests issued.
        completed: Measured requests that succeeded.
        errors: Measured requests that failed, by name.
        in_flight: Requests under way, warm-up included.
        output_tokens: Tokens (chunks, where the server does not count) of completed requests.
    """

    phase: str = "setup"
    phase_started_ns: int = 0
    issued: int = 0
    completed: int = 0
    errors: Counter[str] = field(default_factory=Counter)
    in_flight: int = 0
    output_tokens: int = 0
    recent_ttft_ms: deque[float] = field(default_factory=lambda: deque(maxlen=RECENT))

    @property
    def ended(self) -> int:
        """Measured requests that are over."""
        return self.completed + self.errors.total()

    def ttft_ms(self) -> float | None:
        """The median TTFT of the latest requests."""
        return median(self.recent_ttft_ms) if self.recent_ttft_ms else None
