"""EventRecorder: a queue in front of the one thread that owns the one write connection."""

from __future__ import annotations

import atexit
import math
import threading
import time
from contextlib import suppress
from functools import partial
from pathlib import Path
from queue import Empty
from typing import TYPE_CHECKING, Any, Final, Self
from uuid import uuid4

from recorder.backlog import Backlog, Batch, Flush, Item, StopSentinel
from recorder.errors import NotRecordingError, WriterError, stalled
from recorder.event import Event, EventType, SampleEvent, SessionEvent
from recorder.lock import Active
from recorder.log_writer import Appender, WriterHealth, Writing
from recorder.schema import HEARTBEAT_S
from recorder.session import Session
from recorder.store import LOG_NAME, Store

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from recorder import schema

COMMIT_EVENTS: Final = 4096
"""A batch of this many events is committed at once."""

COMMIT_BYTES: Final = 16 * 1024 * 1024
"""So is one of this many bytes, of those that other processes have brought."""

COMMIT_INTERVAL_S: Final = 0.01
"""A smaller batch is committed after this time: with the commit itself, well within 50 ms."""

HEALTH_INTERVAL_S: Final = 1.0
"""How often the recorder logs its own health, so that a log that was cut off has it too."""

CLOSE_TIMEOUT_S: Final = 90.0
"""A log that does not take a batch within this time does not hold up the end of the process any longer."""


class EventRecorder(Active):
    """Records events without ever blocking or encoding on the caller's thread.

    A process has one recorder: it is in `LIVE` from its construction until it is closed. The log is
    made by `with`, by `begin`, or with the first event that `record_event` is given.

    Args:
        session_id: Names the session; made up when missing.
        path: Where the log is made; by default `db_path(session_id)`. A folder has one recorder at a time.
        settings: Goes into the session row (see `recorder.session.Session`).
        environment: As above.
        resume: Continue the log that is at `path`, in a further segment; its settings stay as they are.
        after_seq: Of a log to continue with, the last event that is known of: with a later one it is refused.
        on_failure: Called once, on the writer's thread, when the log cannot be written any more.

    Raises:
        AlreadyRecordingError: This process has a recorder that was not closed.
    """

    def __init__(
        self,
        session_id: str | None = None,
        *,
        path: str | Path | None = None,
        settings: Mapping[str, Any] | None = None,
        environment: Mapping[str, Any] | None = None,
        resume: bool = False,
        after_seq: int | None = None,
        on_failure: Callable[[WriterError], None] | None = None,
    ) -> None:
        session_id = session_id or uuid4().hex
        self.session = Session(session_id, settings=settings or {}, environment=environment or {})
        self._open = Store.create
        if resume:
            from recorder.continued_log import reopen

            self._open = partial(reopen, after_seq=after_seq)
        self.path = Path(path) if path else self.db_path(session_id)
        self.health = WriterHealth()
        self._not_made: Exception | None = None
        self._waiting_since = math.inf
        self._complete_until_ns = self.session.started_at_ns
        self._reports_completeness = False
        self._log = Appender(self.path, self.health, on_failure)
        self._backlog = Backlog()
        self._hurry = threading.Event()
        self._made = threading.Event()
        self._thread: threading.Thread | None = None
        self.claim()

    @staticmethod
    def db_path(session_id: str) -> Path:
        """Where the log of a session lies unless another place is chosen."""
        return Path("runs") / session_id / LOG_NAME

    # Recording…

    def put(self, event: Event, *, force_commit: bool = False) -> None:
        """Queue an event, encoded later; `force_commit` commits at once rather than within 50 ms."""
        self._backlog.put(event)
        if force_commit:
            self._hurry.set()

    def put_rows(self, rows: Sequence[schema.Row], since_ns: int, size: int = 0) -> None:
        """Queue rows of one thread, in order, waiting since `since_ns`, of `size` bytes in transit."""
        self._backlog.put_batch(Batch(rows, since_ns / 1e9, size))
        if self.waiting >= COMMIT_EVENTS:
            self._hurry.set()

    def expect_completeness(self) -> None:
        """Use `complete_until` as the completeness of the log from now on."""
        self._reports_completeness = True

    def complete_until(self, at_ns: int, *, force_commit: bool = False) -> None:
        """Say that everything which happened before a moment (ns of CLOCK_MONOTONIC) has been put.

        The log says so once that is committed, at once with `force_commit`. For the thread that brings rows.
        """
        self._backlog.put_batch(Batch((), math.inf, 0, at_ns))
        if force_commit:
            self._hurry.set()

    @property
    def failure(self) -> WriterError | None:
        """The reason why the log can no longer be written; None while writing works."""
        return self._log.failure

    @property
    def waiting(self) -> int:
        """The approximate number of events in the queue."""
        return self._backlog.events

    @property
    def waiting_bytes(self) -> int:
        """The approximate bytes in the queue from other processes."""
        return self._backlog.size

    @property
    def unwritten(self) -> int:
        """About how many events are not on disk: those that wait, and those that are being written."""
        writing = self._log.writing
        return self.waiting + (writing.events if writing else 0)

    @property
    def stalled_s(self) -> float:
        """The seconds since the start of the current write; 0 while idle."""
        writing = self._log.writing
        return time.monotonic() - writing.since_s if writing else 0.0

    @classmethod
    def record_event(
        cls,
        ev_type: EventType | SessionEvent | SampleEvent,
        timestamp_ns: int,
        sample_uuid: str | None = None,
        force_commit: bool = False,  # noqa: FBT001, FBT002 (the published interface)
        assert_active: bool = True,  # noqa: FBT001, FBT002 (the published interface)
        data: Any = None,
    ) -> bool:
        """Queue an event for the active recorder. Thread-safe, never blocks.

        Args:
            ev_type: What happened; a `SessionEvent` and a `SampleEvent` are the `EventType` of their name.
            timestamp_ns: When, in ns of CLOCK_MONOTONIC.
            sample_uuid: The request that it happened to, None or "" for the session.
            force_commit: Commit at once rather than within 50 ms.
            assert_active: Raise when no recorder is active rather than return False.
            data: One of `recorder.payloads`, with more keys or without, or anything else that orjson encodes.
                It is encoded later, on the writer's thread; what cannot be is stored as an `encode_error`.

        Returns:
            Whether the event was queued.

        Raises:
            EventError: The event is not as docs/log.md describes it, and was not recorded.
            NotRecordingError: No recorder is active, and `assert_active` is set.
        """
        live = cls.LIVE
        if live is None:
            if assert_active:
                raise NotRecordingError(f"{ev_type.name} came while no EventRecorder was active")
            return False
        # The table of payloads is loaded for events of other programs only.
        from recorder.payload_check import checked

        sample_uuid = sample_uuid or None  # The specification's default is "".
        kind = checked(ev_type, timestamp_ns, sample_uuid, data)
        if live._thread is None:  # noqa: SLF001 (another instance of this class)
            live.begin()
        live.put(Event(kind, timestamp_ns, sample_uuid, data), force_commit=force_commit)
        return True

    def wait_for_writes(self, force_commit: bool = True) -> None:  # noqa: FBT001, FBT002 (the published interface)
        """Block until every event queued so far is committed.

        Args:
            force_commit: Commit at once rather than within 50 ms.

        Raises:
            LogExistsError, LogNotMadeError, WriterError: The log could not be made, or written.
        """
        flush = Flush()
        self._backlog.put(flush)
        if force_commit:
            self._hurry.set()
        while not flush.done.wait(timeout=1.0):
            if self._thread is None or not self._thread.is_alive():
                break
        if error := self._not_made or self.failure:
            raise error

    # The life of the writer…

    def begin(self) -> threading.Event:
        """Start the writer, which makes the log; the returned event is set at success or failure."""
        with self.CLAIM:
            self.claim()
            if self._thread is not None:
                return self._made
            self._made = threading.Event()
            # Until there is a log, making it is what the writer writes.
            self._waiting_since = time.monotonic()
            # What was put before is written at once.
            self._hurry.set()
            self._log.writing = Writing(0, self._waiting_since)
            self._thread = threading.Thread(
                target=self._run, args=(self._made,), name="event-writer", daemon=True
            )
            self._thread.start()
        atexit.register(self.close)
        return self._made

    def require_made(self) -> None:
        """Make sure, once that is certain, that there is a log, or raise why there is none."""
        if self._not_made is not None:
            self._retire()
            raise self._not_made

    def __enter__(self) -> Self:
        """Make the log and start the writer.

        Raises:
            RecorderError: What `begin` and `require_made` raise.
        """
        self.begin().wait()
        self.require_made()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def finish(self) -> None:
        """Ask the writer to write the queue, close the log and end; see `ended`.

        Nothing can be recorded from now on.
        """
        self.release()
        self._backlog.put(StopSentinel())
        self._hurry.set()

    @property
    def ended(self) -> bool:
        """Whether there is no writer, or not any more."""
        return self._thread is None or not self._thread.is_alive()

    def close(self, patience_s: float = CLOSE_TIMEOUT_S) -> None:
        """Write the queue, close the log, and end the writer. Closing twice is harmless.

        Args:
            patience_s: How long to wait for that.

        Raises:
            WriterStalledError: It did not end in time; it is left to itself, and ends with the process.
            LogExistsError, LogNotMadeError, WriterError: The log could not be made, or written.
        """
        if self._thread is None:
            self._retire()
            return
        self.finish()
        self._thread.join(patience_s)
        late = None if self.ended else stalled(self.path, self.stalled_s, self.unwritten)
        self._retire()
        if error := late or self._not_made or self.failure:
            raise error

    def _retire(self) -> None:
        self._thread = None
        self.release()
        atexit.unregister(self.close)

    # On the writer's thread…

    def _run(self, made: threading.Event) -> None:
        try:
            self._log.open(lambda: self._open(self.path, self.session))
        except Exception as error:  # noqa: BLE001 (raised again in the thread that waits for it)
            self._not_made = error
            return
        finally:
            self._log.writing = None
            made.set()
        next_reading = time.monotonic() + HEALTH_INTERVAL_S
        stopped = False
        while not stopped:
            asked_ns = time.monotonic_ns()
            first = self._first()
            if first is None:
                self._beat(asked_ns)
                continue
            self._gather()
            stopped = self._write(first)
            if time.monotonic() >= next_reading and not stopped:
                next_reading = time.monotonic() + HEALTH_INTERVAL_S
                self._backlog.put(self._reading())
        # A thread was about to record when the end was asked for.
        with suppress(Empty):
            while True:
                self._write(self._backlog.take_at_once())
        if self.failure is None:
            self._log.append([self._reading()], 1, self._complete_until_ns)
        self._log.close()

    def _first(self) -> Item | None:
        """Wait for the first event of a batch, and note the earliest possible arrival.

        Returns:
            None when a heartbeat is due, and nothing has come meanwhile.
        """
        try:
            return self._backlog.take_at_once()
        except Empty:
            pass
        try:
            item = self._backlog.take(HEARTBEAT_S)
        except Empty:
            # What comes before the next look has not waited longer.
            self._waiting_since = time.monotonic()
            return None
        self._waiting_since = time.monotonic()
        return item

    def _beat(self, asked_ns: int) -> None:
        """Write that nothing has come since a moment."""
        if not self._reports_completeness:
            self._complete_until_ns = asked_ns
        self._log.append([], 0, self._complete_until_ns)

    def _gather(self) -> None:
        """Collect events until the batch is full, the time limit is reached, or an event is urgent."""
        left_s = self._waiting_since + COMMIT_INTERVAL_S - time.monotonic()
        if left_s > 0 and self.waiting < COMMIT_EVENTS:
            self._hurry.wait(left_s)
        self._hurry.clear()

    def _write(self, first: Item) -> bool:
        """Write one batch of the queue; whether the batch held the sentinel."""
        held = first.size if isinstance(first, Batch) else 0
        rows = len(first.rows) if isinstance(first, Batch) else 1
        self.health.waited(self.waiting + rows, self.waiting_bytes + held)
        asked_ns = time.monotonic_ns()
        taken = self._backlog.take_with(first, COMMIT_EVENTS, COMMIT_BYTES)
        self._complete_until_ns = max(self._complete_until_ns, taken.complete_until_ns)
        if taken.emptied and not self._reports_completeness:
            # What was put before the queue was asked for the last time is in this batch.
            self._complete_until_ns = asked_ns
        waiting_since = min(self._waiting_since, taken.since_s)
        if taken.emptied:
            self._waiting_since = time.monotonic()
        self._log.append(taken.items, taken.events, self._complete_until_ns)
        waited_ms = (time.monotonic() - waiting_since) * 1e3
        self.health.longest_wait_ms = max(self.health.longest_wait_ms, waited_ms)
        for flush in taken.flushes:
            flush.done.set()
        return any(isinstance(flush, StopSentinel) for flush in taken.flushes)

    def _reading(self) -> Event:
        now = {"waiting": self.waiting, "waiting_bytes": self.waiting_bytes}
        return Event(EventType.TELEMETRY, time.monotonic_ns(), data=self.health.reading() | now)
