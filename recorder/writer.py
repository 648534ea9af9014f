"""EventRecorder: a queue in front of the one thread that owns the one write connection."""

from __future__ import annotations

import atexit
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any, ClassVar, Final, NamedTuple, Self
from uuid import uuid4

from recorder import schema
from recorder.errors import AlreadyRecordingError, NotRecordingError, WriterError
from recorder.event import Event, EventType
from recorder.health import RecorderHealth
from recorder.store import LOG_NAME, Session, Store

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from types import TracebackType

COMMIT_EVENTS: Final = 4096
"""A batch of this many events is committed at once."""

COMMIT_INTERVAL_S: Final = 0.025
"""A smaller batch is committed after this time: with the commit itself, well within 50 ms."""

HEALTH_INTERVAL_S: Final = 5.0
"""How often the recorder logs its own health, so that a log that was cut off has it too."""

_GATHER_S: Final = 0.005
_CLOSE_TIMEOUT_S: Final = 90.0


class _Batch(NamedTuple):
    """Rows that are ready to be written, and the monotonic second since which the first has waited."""

    rows: Sequence[schema.Row]
    since_s: float


class _Flush:
    """Asks the writer to commit what came before it, and to say so."""

    def __init__(self) -> None:
        self.done = threading.Event()


class _Stop(_Flush):
    """The sentinel: drains the queue and ends the writer."""


@dataclass(slots=True)
class _Batched:
    """Counts the rows of batches, less one each, because the queue counts a batch as one.

    Each counter has one thread that writes it.
    """

    brought: int = 0
    taken: int = 0


class EventRecorder:
    """Records events without ever blocking or encoding on the caller's thread.

    Use it as a context manager. One recorder is active in a process at a time; it stands in `LIVE`.

    Args:
        session_id: Names the session; made up when missing.
        path: Where the log is made; by default `db_path(session_id)`.
        settings: Goes into the session row (see `recorder.store.Session`).
        environment: Likewise.
        on_failure: Called once, on the writer's thread, when the log cannot be written any more.
    """

    LIVE: ClassVar[EventRecorder | None] = None

    def __init__(
        self,
        session_id: str | None = None,
        *,
        path: Path | None = None,
        settings: Mapping[str, Any] | None = None,
        environment: Mapping[str, Any] | None = None,
        on_failure: Callable[[WriterError], None] | None = None,
    ) -> None:
        self.session = Session(
            session_id=session_id or uuid4().hex,
            settings=settings or {},
            environment=environment or {},
        )
        self.path = path or self.db_path(self.session.session_id)
        self.health = RecorderHealth()
        self.failure: WriterError | None = None
        self._not_made: Exception | None = None
        self._waiting_since = 0.0
        self._on_failure = on_failure
        self._queue: SimpleQueue[Event | _Batch | _Flush] = SimpleQueue()
        self._batched = _Batched()
        self._hurry = threading.Event()
        self._thread: threading.Thread | None = None

    @staticmethod
    def db_path(session_id: str) -> Path:
        """Where the log of a session lies unless another place is chosen."""
        return Path("runs") / session_id / LOG_NAME

    # Recording…

    def put(self, event: Event, *, force_commit: bool = False) -> None:
        """Queue an event. Thread-safe, never blocks.

        Args:
            event: What happened; encoded later, on the writer's thread.
            force_commit: Commit at once rather than within 50 ms.
        """
        self._queue.put(event)
        if force_commit:
            self._hurry.set()

    def put_rows(self, rows: Sequence[schema.Row], since_ns: int) -> None:
        """Queue events that another process has made rows of (`recorder.schema.row`). Never blocks.

        Args:
            rows: In the order in which they happened; each counts as an event. One thread brings them.
            since_ns: Since when the first of them has waited, in ns of CLOCK_MONOTONIC.
        """
        self._batched.brought += len(rows) - 1
        self._queue.put(_Batch(rows, since_ns / 1e9))

    @property
    def waiting(self) -> int:
        """About how many events wait to be written."""
        return self._queue.qsize() + self._batched.brought - self._batched.taken

    @classmethod
    def record_event(
        cls,
        ev_type: EventType,
        timestamp_ns: int,
        sample_uuid: str | None = None,
        force_commit: bool = False,  # noqa: FBT001, FBT002 (the published interface)
        assert_active: bool = True,  # noqa: FBT001, FBT002 (the published interface)
        data: Mapping[str, Any] | None = None,
    ) -> bool:
        """Queue an event for the active recorder. Thread-safe, never blocks.

        Args:
            ev_type: What happened.
            timestamp_ns: When, in ns of CLOCK_MONOTONIC.
            sample_uuid: The request that it happened to, None for the session.
            force_commit: Commit at once rather than within 50 ms.
            assert_active: Raise when no recorder is active rather than return False.
            data: What else is known; encoded later, on the writer's thread.

        Returns:
            Whether the event was queued.

        Raises:
            NotRecordingError: No recorder is active, and `assert_active` is set.
        """
        live = cls.LIVE
        if live is None:
            if assert_active:
                raise NotRecordingError(f"{ev_type.name} came while no EventRecorder was active")
            return False
        live.put(Event(ev_type, timestamp_ns, sample_uuid, data), force_commit=force_commit)
        return True

    def wait_for_writes(self, force_commit: bool = True) -> None:  # noqa: FBT001, FBT002 (the published interface)
        """Block until every event queued so far is committed.

        Args:
            force_commit: Commit at once rather than within 50 ms.

        Raises:
            WriterError: The log could not be written.
        """
        flush = _Flush()
        self._queue.put(flush)
        if force_commit:
            self._hurry.set()
        while not flush.done.wait(timeout=1.0):
            if self._thread is None or not self._thread.is_alive():
                break
        if self.failure:
            raise self.failure

    # The life of the writer…

    def __enter__(self) -> Self:
        """Make the log and start the writer.

        Raises:
            AlreadyRecordingError: Another recorder is active in this process.
            LogExistsError, LogNotMadeError: There is no room for a log at `path`.
        """
        if EventRecorder.LIVE is not None:
            raise AlreadyRecordingError(
                f"session {EventRecorder.LIVE.session.session_id} is being recorded in this process already",
            )
        EventRecorder.LIVE = self
        made = threading.Event()
        self._thread = threading.Thread(target=self._run, args=(made,), name="event-writer", daemon=True)
        self._thread.start()
        made.wait()
        if self._not_made is not None:
            EventRecorder.LIVE = None
            raise self._not_made
        atexit.register(self.close)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Write what is queued, close the log, and end the writer. Closing twice is harmless.

        Raises:
            WriterError: Something could not be written, or the writer did not end in time.
        """
        thread, self._thread = self._thread, None
        if thread is None:
            return
        EventRecorder.LIVE = None
        atexit.unregister(self.close)
        self._queue.put(_Stop())
        self._hurry.set()
        thread.join(_CLOSE_TIMEOUT_S)
        if thread.is_alive():
            raise WriterError(
                f"{self.path}: the writer did not end within {_CLOSE_TIMEOUT_S:.0f} s, "
                f"about {self._queue.qsize()} events are not written",
            )
        if self.failure:
            raise self.failure

    # On the writer's thread…

    def _run(self, made: threading.Event) -> None:
        try:
            store = Store.create(self.path, self.session)
        except Exception as error:  # noqa: BLE001 (raised again in the thread that waits for it)
            self._not_made = error
            return
        finally:
            made.set()
        next_reading = time.monotonic() + HEALTH_INTERVAL_S
        stopped = False
        while not stopped:
            first = self._first()
            self._gather()
            stopped = self._write(store, first)
            if time.monotonic() >= next_reading and not stopped:
                next_reading = time.monotonic() + HEALTH_INTERVAL_S
                self._queue.put(self._reading())
        if self.failure is None:
            self._append(store, [self._reading()], 1)
        store.close()

    def _first(self) -> Event | _Batch | _Flush:
        """Wait for the first event of a batch, and know since when it may have waited itself."""
        try:
            return self._queue.get_nowait()
        except Empty:
            item = self._queue.get()
            self._waiting_since = time.monotonic()
            return item

    def _gather(self) -> None:
        """Let events come together, until the batch is full, its time is up, or somebody is in a hurry."""
        while self.waiting < COMMIT_EVENTS:
            left = self._waiting_since + COMMIT_INTERVAL_S - time.monotonic()
            if left <= 0 or self._hurry.wait(min(left, _GATHER_S)):
                break
        self._hurry.clear()

    def _write(self, store: Store, first: Event | _Batch | _Flush) -> bool:
        """Write one batch of what is in the queue; tell whether the sentinel was in it."""
        self.health.high_water = max(self.health.high_water, self.waiting + 1)
        events: list[Event | _Batch] = []
        flushes: list[_Flush] = []
        item: Event | _Batch | _Flush = first
        waiting_since, count = self._waiting_since, 0
        while True:
            if isinstance(item, _Flush):
                flushes.append(item)
            elif isinstance(item, Event):
                events.append(item)
                count += 1
            else:
                events.append(item)
                count += len(item.rows)
                waiting_since = min(waiting_since, item.since_s)
                self._batched.taken += len(item.rows) - 1
            if count >= COMMIT_EVENTS:
                break
            try:
                item = self._queue.get_nowait()
            except Empty:
                self._waiting_since = time.monotonic()
                break
        self._append(store, events, count)
        waited_ms = (time.monotonic() - waiting_since) * 1e3
        self.health.longest_wait_ms = max(self.health.longest_wait_ms, waited_ms)
        for flush in flushes:
            flush.done.set()
        return any(isinstance(flush, _Stop) for flush in flushes)

    def _append(self, store: Store, events: Sequence[Event | _Batch], count: int) -> None:
        """Write events; there are `count` of them, those in batches included."""
        if not events:
            return
        if self.failure is not None:
            self.health.lost += count
            return
        started = time.monotonic()
        try:
            store.append(_rows(events))
        except Exception as error:  # noqa: BLE001 (whatever it is, the caller must learn of it)
            self._fail(error, count)
            return
        self.health.events += count
        self.health.commits += 1
        took_ms = (time.monotonic() - started) * 1e3
        self.health.slowest_commit_ms = max(self.health.slowest_commit_ms, took_ms)

    def _fail(self, error: Exception, lost: int) -> None:
        """Give the log up: what was committed stays, what comes from now on counts as lost."""
        self.health.lost += lost
        self.failure = WriterError(
            f"{self.path}: the log cannot be written ({error}); what was committed before is intact. "
            "Make room on the disk or choose another --out, and run again",
        )
        self.failure.__cause__ = error
        if self._on_failure:
            self._on_failure(self.failure)

    def _reading(self) -> Event:
        return Event(EventType.TELEMETRY, time.monotonic_ns(), data=self.health.reading())


def _rows(events: Sequence[Event | _Batch]) -> list[schema.Row]:
    """Encode what is not a row yet."""
    rows: list[schema.Row] = []
    for event in events:
        if isinstance(event, Event):
            rows.append(schema.row(event))
        else:
            rows += event.rows
    return rows
