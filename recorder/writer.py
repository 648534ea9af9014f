"""EventRecorder: a queue in front of the one thread that owns the one write connection."""

from __future__ import annotations

import atexit
import threading
import time
from contextlib import suppress
from functools import partial
from pathlib import Path
from queue import Empty
from typing import TYPE_CHECKING, Any, ClassVar, Final, Self
from uuid import uuid4

from recorder.backlog import Backlog, Batch, Flush, Item, Stop, rows_of
from recorder.errors import AlreadyRecordingError, NotRecordingError, WriterError
from recorder.event import Event, EventType
from recorder.health import RecorderHealth, Writing
from recorder.presence import Presence
from recorder.remedies import broken, stalled
from recorder.session import Session
from recorder.store import LOG_NAME, Store

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from types import TracebackType

    from recorder import schema

COMMIT_EVENTS: Final = 4096
"""A batch of this many events is committed at once."""

COMMIT_BYTES: Final = 16 * 1024 * 1024
"""So is one of this many bytes, of those that other processes have brought."""

COMMIT_INTERVAL_S: Final = 0.025
"""A smaller batch is committed after this time: with the commit itself, well within 50 ms."""

HEALTH_INTERVAL_S: Final = 1.0
"""How often the recorder logs its own health, so that a log that was cut off has it too."""

_GATHER_S: Final = 0.005

CLOSE_TIMEOUT_S: Final = 90.0
"""A log that does not take a batch within this time does not hold up the end of the process any longer."""


class EventRecorder:
    """Records events without ever blocking or encoding on the caller's thread.

    Use it as a context manager. One recorder is active in a process at a time; it stands in `LIVE`.

    Args:
        session_id: Names the session; made up when missing.
        path: Where the log is made; by default `db_path(session_id)`. Its folder is held while it is written:
            a folder has one recorder at a time, whatever the logs in it are called.
        settings: Goes into the session row (see `recorder.session.Session`).
        environment: Likewise.
        resume: Go on with the log that is at `path`, in a further sitting; its settings stay as they are.
        after_seq: Of a log to go on with, the last event that is known of: with a later one it is refused.
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
        resume: bool = False,
        after_seq: int | None = None,
        on_failure: Callable[[WriterError], None] | None = None,
    ) -> None:
        self.session = Session(
            session_id=session_id or uuid4().hex,
            settings=settings or {},
            environment=environment or {},
        )
        self._open = partial(Store.reopen, after_seq=after_seq) if resume else Store.create
        self.path = path or self.db_path(self.session.session_id)
        self.health = RecorderHealth()
        self.failure: WriterError | None = None
        self._not_made: Exception | None = None
        self._broken_by: Exception | None = None
        self._waiting_since = 0.0
        self._on_failure = on_failure
        self._presence = Presence(self.path)
        self._backlog = Backlog()
        self._writing: Writing | None = None
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
        self._backlog.put(event)
        if force_commit:
            self._hurry.set()

    def put_rows(self, rows: Sequence[schema.Row], since_ns: int, size: int = 0) -> None:
        """Queue events that another process has made rows of (`recorder.schema.row`). Never blocks.

        Args:
            rows: In the order in which they happened; each counts as an event. One thread brings them.
            since_ns: Since when the first of them has waited, in ns of CLOCK_MONOTONIC.
            size: How many bytes they took on their way here.
        """
        self._backlog.bring(Batch(rows, since_ns / 1e9, size))

    @property
    def waiting(self) -> int:
        """About how many events wait for their turn to be written."""
        return self._backlog.events

    @property
    def waiting_bytes(self) -> int:
        """How many bytes of what other processes have brought wait likewise."""
        return self._backlog.size

    @property
    def unwritten(self) -> int:
        """About how many events are not on disk: those that wait, and those that are being written."""
        writing = self._writing
        return self.waiting + (writing.events if writing else 0)

    @property
    def stalled_s(self) -> float:
        """Since how many seconds the log has been taking the same batch; 0 while nothing is being written."""
        writing = self._writing
        return time.monotonic() - writing.since_s if writing else 0.0

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
        flush = Flush()
        self._backlog.put(flush)
        if force_commit:
            self._hurry.set()
        while not flush.done.wait(timeout=1.0):
            if self._thread is None or not self._thread.is_alive():
                break
        if self.failure:
            raise self.failure

    # The life of the writer…

    def begin(self) -> threading.Event:
        """Start the writer, which makes the log; what is returned is set when it has, or could not.

        Raises:
            AlreadyRecordingError: Another recorder is active in this process.
        """
        if EventRecorder.LIVE is not None:
            raise AlreadyRecordingError(
                f"session {EventRecorder.LIVE.session.session_id} is being recorded in this process already",
            )
        EventRecorder.LIVE = self
        made = threading.Event()
        # Until there is a log, making it is what the writer writes.
        self._writing = Writing(0, time.monotonic())
        self._thread = threading.Thread(target=self._run, args=(made,), name="event-writer", daemon=True)
        self._thread.start()
        atexit.register(self.close)
        return made

    def require_made(self) -> None:
        """Make sure, once that is certain, that there is a log.

        Raises:
            LogExistsError, LogNotMadeError: There is no room for a log at `path`.
            BeingWrittenError: Another process writes it.
            LogError, OldLogError: What should be resumed is no log, or not one to go on with.
        """
        if self._not_made is not None:
            self._retire()
            raise self._not_made

    def __enter__(self) -> Self:
        """Make the log and start the writer.

        Raises:
            AlreadyRecordingError: Another recorder is active in this process.
            LogExistsError, LogNotMadeError: There is no room for a log at `path`.
            BeingWrittenError: Another process writes it.
            LogError, OldLogError: What should be resumed is no log, or not one to go on with.
        """
        self.begin().wait()
        self.require_made()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def finish(self) -> None:
        """Ask the writer to write what is queued, close the log and end; see `ended`.

        Nothing can be recorded from now on.
        """
        if EventRecorder.LIVE is self:
            EventRecorder.LIVE = None
        self._backlog.put(Stop())
        self._hurry.set()

    @property
    def ended(self) -> bool:
        """Whether there is no writer, or not any more."""
        return self._thread is None or not self._thread.is_alive()

    def close(self, patience_s: float = CLOSE_TIMEOUT_S) -> None:
        """Write what is queued, close the log, and end the writer. Closing twice is harmless.

        Args:
            patience_s: How long to wait for that.

        Raises:
            WriterStalledError: It did not end in time; it is left to itself, and ends with the process.
            WriterError: Something could not be written.
        """
        if self._thread is None:
            return
        self.finish()
        self._thread.join(patience_s)
        late = None if self.ended else stalled(self.path, self.stalled_s, self.unwritten)
        self._retire()
        if error := late or self.failure:
            raise error

    def _retire(self) -> None:
        self._thread = None
        if EventRecorder.LIVE is self:
            EventRecorder.LIVE = None
        atexit.unregister(self.close)

    # On the writer's thread…

    def _run(self, made: threading.Event) -> None:
        try:
            store = self._opened()
        except Exception as error:  # noqa: BLE001 (raised again in the thread that waits for it)
            self._not_made = error
            return
        finally:
            self._writing = None
            made.set()
        next_reading = time.monotonic() + HEALTH_INTERVAL_S
        stopped = False
        while not stopped:
            first = self._first()
            self._gather()
            stopped = self._write(store, first)
            if time.monotonic() >= next_reading and not stopped:
                next_reading = time.monotonic() + HEALTH_INTERVAL_S
                self._backlog.put(self._reading())
        # Whoever was about to record when the end was asked for.
        with suppress(Empty):
            while True:
                self._write(store, self._backlog.take_at_once())
        if self.failure is None:
            self._append(store, [self._reading()], 1)
        self._writing = Writing(0, time.monotonic())
        store.close(fold=self.failure is None)
        self._writing = None

    def _opened(self) -> Store:
        store = self._open(self.path, self.session)
        try:
            self._presence.require()
        except BaseException:
            store.close()
            raise
        return store

    def _first(self) -> Item:
        """Wait for the first event of a batch, and know since when it may have waited itself."""
        try:
            return self._backlog.take_at_once()
        except Empty:
            item = self._backlog.take()
            self._waiting_since = time.monotonic()
            return item

    def _gather(self) -> None:
        """Let events come together, until the batch is full, its time is up, or somebody is in a hurry."""
        while self.waiting < COMMIT_EVENTS:
            left = self._waiting_since + COMMIT_INTERVAL_S - time.monotonic()
            if left <= 0 or self._hurry.wait(min(left, _GATHER_S)):
                break
        self._hurry.clear()

    def _write(self, store: Store, first: Item) -> bool:
        """Write one batch of what is in the queue; tell whether the sentinel was in it."""
        held = first.size if isinstance(first, Batch) else 0
        rows = len(first.rows) if isinstance(first, Batch) else 1
        self.health.waited(self.waiting + rows, self.waiting_bytes + held)
        taken = self._backlog.take_with(first, COMMIT_EVENTS, COMMIT_BYTES)
        waiting_since = min(self._waiting_since, taken.since_s)
        if taken.emptied:
            self._waiting_since = time.monotonic()
        self._append(store, taken.items, taken.events)
        waited_ms = (time.monotonic() - waiting_since) * 1e3
        self.health.longest_wait_ms = max(self.health.longest_wait_ms, waited_ms)
        for flush in taken.flushes:
            flush.done.set()
        return any(isinstance(flush, Stop) for flush in taken.flushes)

    def _append(self, store: Store, events: Sequence[Event | Batch], count: int) -> None:
        """Write events; there are `count` of them, those in batches included."""
        if not events:
            return
        if self._broken_by is not None:
            self._lose(count, self._broken_by)
            return
        started = time.monotonic()
        self._writing = Writing(count, started)
        try:
            store.append(rows_of(events))
            self._presence.require()
        except Exception as error:  # noqa: BLE001 (whatever it is, the caller must learn of it)
            self._broken_by = error
            failure = self._lose(count, error)
            if self._on_failure:
                self._on_failure(failure)
            return
        finally:
            self._writing = None
        self.health.committed(count, (time.monotonic() - started) * 1e3)

    def _lose(self, count: int, error: Exception) -> WriterError:
        """Give the log up: what was committed stays, what comes from now on is lost as well."""
        self.health.lost += count
        self.failure = broken(self.path, error, self.health.lost)
        return self.failure

    def _reading(self) -> Event:
        now = {"waiting": self.waiting, "waiting_bytes": self.waiting_bytes}
        return Event(EventType.TELEMETRY, time.monotonic_ns(), data=self.health.reading() | now)
