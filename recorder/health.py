"""Health figures of the recorder, which travel in the log and are in every report."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Writing:
    """The batch in progress, and the monotonic second of its start."""

    events: int
    since_s: float


@dataclass(slots=True)
class WriterHealth:
    """The writer's own health figures.

    Attributes:
        lost: Events that could not be written. Anything but 0 invalidates a run.
        longest_wait_ms: The longest that an event can have waited for the end of its commit: a `kill -9`
            loses nothing that is older than this.
    """

    events: int = 0
    commits: int = 0
    lost: int = 0
    high_water: int = 0
    high_water_bytes: int = 0
    slowest_commit_ms: float = 0.0
    longest_wait_ms: float = 0.0

    def waited(self, events: int, size: int) -> None:
        """How many events, and how many bytes from other processes, have waited at once."""
        self.high_water = max(self.high_water, events)
        self.high_water_bytes = max(self.high_water_bytes, size)

    def committed(self, events: int, took_ms: float) -> None:
        """How many events have been written in one transaction."""
        self.events += events
        self.commits += 1
        self.slowest_commit_ms = max(self.slowest_commit_ms, took_ms)

    def reading(self) -> dict[str, Any]:
        """The TELEMETRY payload of these figures."""
        return {
            "source": "recorder",
            "events": self.events,
            "commits": self.commits,
            "lost": self.lost,
            "high_water": self.high_water,
            "high_water_bytes": self.high_water_bytes,
            "slowest_commit_ms": round(self.slowest_commit_ms, 3),
            "longest_wait_ms": round(self.longest_wait_ms, 3),
        }
