"""Appending batches to the log that is being written, until that fails for the first time."""

from __future__ import annotations

import sqlite3
import time
from typing import TYPE_CHECKING, Any

from lazy_dataclasses import dataclass
from recorder.backlog import rows_of
from recorder.errors import LogCutError, LogGoneError, broken
from recorder.file_checks import Presence
from recorder.schema import Heartbeat

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from recorder.backlog import Batch
    from recorder.errors import WriterError
    from recorder.event import Event
    from recorder.store import Store


class Appender:
    """Exclusive access to the log, on the writer's thread."""

    def __init__(
        self, path: Path, health: WriterHealth, on_failure: Callable[[WriterError], None] | None
    ) -> None:
        #: Why the log cannot be written any more, and how many events are not in it.
        self.failure: WriterError | None = None
        self.writing: Writing | None = None  #: what is being written; None while nothing is
        self._path = path
        self._health = health
        self._on_failure = on_failure
        self._presence = Presence(path)
        self._broken_by: Exception | None = None

    def open(self, make: Callable[[], Store]) -> None:
        """Have the log made, or opened again."""
        store = make()
        try:
            self._presence.require()
        except BaseException:
            store.close()
            raise
        self._store = store

    def append(self, events: Sequence[Event | Batch], count: int, complete_until_ns: int) -> None:
        """Write events, of which there are `count`, those in batches included; without any, a heartbeat."""
        if self._broken_by is not None:
            if count:
                self._lose(count, self._broken_by)
            return
        started = time.monotonic()
        self.writing = Writing(count, started)
        try:
            self._presence.require()
            try:
                self._store.append(rows_of(events), Heartbeat(complete_until_ns, time.monotonic_ns()))
            except sqlite3.Error:
                self._presence.require()  # a file that is gone meanwhile is the cause, and is named
                raise
            self._presence.require_whole()
        except Exception as error:  # noqa: BLE001 (whatever it is, the caller must learn of it)
            self._broken_by = error
            failure = self._lose(count, error)
            if self._on_failure:
                self._on_failure(failure)
            return
        finally:
            self.writing = None
        if count:
            self._health.committed(count, (time.monotonic() - started) * 1e3)

    def close(self) -> None:
        """Close the log: in order, unless the log can no longer be written."""
        self.writing = Writing(0, time.monotonic())
        if isinstance(self._broken_by, LogGoneError):
            self._store.abandon(cut=isinstance(self._broken_by, LogCutError))
        else:
            self._store.close(fold=self.failure is None)
        self.writing = None

    def _lose(self, count: int, error: Exception) -> WriterError:
        """Abandon the log: committed events stay, later events are lost."""
        self._health.lost += count
        self.failure = broken(self._path, error, self._health.lost)
        return self.failure


@dataclass(frozen=True, slots=True)
class Writing:
    """The batch in progress, and the monotonic second of the start."""

    events: int
    since_s: float


@dataclass(slots=True)
class WriterHealth:
    """The writer's own health figures."""

    events: int = 0
    commits: int = 0
    lost: int = 0  #: events that could not be written. Anything but 0 invalidates a run.
    high_water: int = 0
    high_water_bytes: int = 0
    slowest_commit_ms: float = 0.0
    #: The longest that an event can have waited for the end of its commit: a `kill -9` loses nothing that is
    #: older than this.
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
