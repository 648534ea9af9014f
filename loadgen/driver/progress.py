"""The progress of a session: counters for a live view."""

from __future__ import annotations

from collections import Counter, deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

RECENT: Final = 200
"""How many of the latest TTFTs the live median is taken over."""


@dataclass(slots=True)
class SessionProgress:
    """Counters of the session, those of the warm-up apart.

    Attributes:
        in_flight: Requests in flight, including the warm-up's.
        given_up: Requests in flight that were cancelled, including the warm-up's.
        cut: Those of them that ended before their last turn, by the reason: `failed`, `duration`, `stopped`.
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
        """Measured requests that have ended."""
        return self.completed + self.errors.total()

    def ttft_ms(self) -> float | None:
        """The median TTFT of the latest requests."""
        ordered = sorted(self.recent_ttft_ms)
        return ordered[len(ordered) // 2] if ordered else None

    def snapshot(self) -> dict[str, Any]:
        """The counters in plain types, for a worker's report."""
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
        """Set the counters to the sum of the workers' latest snapshots."""
        snapshots_of_workers = list(snapshots)
        self.issued = sum(snapshot["issued"] for snapshot in snapshots_of_workers)
        self.completed = sum(snapshot["completed"] for snapshot in snapshots_of_workers)
        self.errors = sum((Counter(snapshot["errors"]) for snapshot in snapshots_of_workers), Counter[str]())
        self.in_flight = sum(snapshot["in_flight"] for snapshot in snapshots_of_workers)
        self.given_up = sum(snapshot["given_up"] for snapshot in snapshots_of_workers)
        self.sessions = sum(snapshot["sessions"] for snapshot in snapshots_of_workers)
        self.cut = sum((Counter(snapshot["cut"]) for snapshot in snapshots_of_workers), Counter[str]())
        self.never_asked = sum(snapshot["never_asked"] for snapshot in snapshots_of_workers)
        self.output_tokens = sum(snapshot["output_tokens"] for snapshot in snapshots_of_workers)
        self.recent_ttft_ms = deque(
            ttft_ms for snapshot in snapshots_of_workers for ttft_ms in snapshot["recent_ttft_ms"]
        )
