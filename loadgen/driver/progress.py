"""How a session is getting on: counters for whoever wants to show them while it runs."""

from __future__ import annotations

from collections import Counter, deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

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
        given_up: Requests that were under way and given up, warm-up included.
        sessions: Measured conversations that are over, where samples are conversations.
        cut: Those of them that ended before their last turn, by the reason: `failed`, `duration`, `stopped`.
        never_asked: The turns that they had left.
        output_tokens: Tokens (chunks, where the server does not count) of completed requests.
    """

    phase: str = "setup"
    phase_started_ns: int = 0
    issued: int = 0
    completed: int = 0
    errors: Counter[str] = field(default_factory=Counter)
    in_flight: int = 0
    given_up: int = 0
    sessions: int = 0
    cut: Counter[str] = field(default_factory=Counter)
    never_asked: int = 0
    output_tokens: int = 0
    recent_ttft_ms: deque[float] = field(default_factory=lambda: deque(maxlen=RECENT))

    @property
    def ended(self) -> int:
        """Measured requests that are over."""
        return self.completed + self.errors.total()

    def ttft_ms(self) -> float | None:
        """The median TTFT of the latest requests."""
        ordered = sorted(self.recent_ttft_ms)
        return ordered[len(ordered) // 2] if ordered else None

    def snapshot(self) -> dict[str, Any]:
        """The counters, in plain types: what a worker tells of itself."""
        return {
            "issued": self.issued,
            "completed": self.completed,
            "errors": dict(self.errors),
            "in_flight": self.in_flight,
            "given_up": self.given_up,
            "sessions": self.sessions,
            "cut": dict(self.cut),
            "never_asked": self.never_asked,
            "output_tokens": self.output_tokens,
            "recent_ttft_ms": list(self.recent_ttft_ms),
        }

    def add_up(self, snapshots: Iterable[Mapping[str, Any]]) -> None:
        """Become the sum of what several workers have told last."""
        told = list(snapshots)
        self.issued = sum(one["issued"] for one in told)
        self.completed = sum(one["completed"] for one in told)
        self.errors = sum((Counter(one["errors"]) for one in told), Counter[str]())
        self.in_flight = sum(one["in_flight"] for one in told)
        self.given_up = sum(one["given_up"] for one in told)
        self.sessions = sum(one["sessions"] for one in told)
        self.cut = sum((Counter(one["cut"]) for one in told), Counter[str]())
        self.never_asked = sum(one["never_asked"] for one in told)
        self.output_tokens = sum(one["output_tokens"] for one in told)
        self.recent_ttft_ms = deque(ttft_ms for one in told for ttft_ms in one["recent_ttft_ms"])
