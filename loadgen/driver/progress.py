"""The progress of a session: counters for a live view."""

from __future__ import annotations

from collections import Counter, deque
from typing import TYPE_CHECKING, Any, Final

from lazy_dataclasses import dataclass, field

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

RECENT: Final = 200
"""How many of the latest TTFTs the live median is taken over."""

_NUMBERS: Final = (
    *("issued", "completed", "in_flight", "given_up", "sessions", "never_asked"),
    *("output_tokens", "warmup_failed"),
)
_BY_NAME: Final = ("errors", "cut")
"""The counters that workers report."""


@dataclass(slots=True)
class SessionProgress:
    """Counters of the session, those of the warm-up apart."""

    phase: str = "setup"
    phase_started_ns: int = 0
    issued: int = 0
    completed: int = 0
    errors: Counter[str] = field(default_factory=Counter)
    in_flight: int = 0  #: requests in flight, including the warm-up's
    given_up: int = 0  #: requests in flight that were cancelled, including the warm-up's
    sessions: int = 0
    #: Those of them that ended before their last turn, by the reason: `failed`, `duration`, `stopped`.
    cut: Counter[str] = field(default_factory=Counter)
    never_asked: int = 0
    warmup_failed: int = 0  #: requests that sessions of the warm-up lack: failed, cancelled or never issued
    output_tokens: int = 0  #: tokens (chunks, where the server does not count) of completed requests
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
            **{name: getattr(self, name) for name in _NUMBERS},
            **{name: dict(getattr(self, name)) for name in _BY_NAME},
            "recent_ttft_ms": list(self.recent_ttft_ms),
        }

    def add_up(self, snapshots: Iterable[Mapping[str, Any]]) -> None:
        """Set the counters to the sum of the workers' latest snapshots."""
        workers = list(snapshots)
        for name in _NUMBERS:
            setattr(self, name, sum(worker[name] for worker in workers))
        for name in _BY_NAME:
            setattr(self, name, sum((Counter(worker[name]) for worker in workers), Counter[str]()))
        self.recent_ttft_ms = deque(ttft_ms for worker in workers for ttft_ms in worker["recent_ttft_ms"])
