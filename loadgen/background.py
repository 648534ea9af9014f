"""A session in a separate thread: signals and event loop stay with the caller."""

from __future__ import annotations

import logging
import threading
from contextlib import contextmanager
from time import monotonic_ns
from typing import TYPE_CHECKING, Final, Generic, TypeVar

from lazy_dataclasses import dataclass
from loadgen.sessions.error_exit_codes import one_tree
from loadgen.sessions.errors import UsageError
from loadgen.sessions.observer import Observer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from loadgen.driver.plan import Plan
    from loadgen.driver.progress import SessionProgress as Counters
    from loadgen.sessions.files.series_file import SeriesPoint
    from loadgen.sessions.series_outcome import PointOutcome

Result = TypeVar("Result")

_INTERVAL_S: Final = 0.25
_LOG: Final = logging.getLogger("loadgen")
_LOG.addHandler(logging.NullHandler())
_running: Final = threading.Lock()


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a session is.

    Attributes:
        phase: `setup`, `warmup`, `performance` or `drain`.
        completed: Measured requests that succeeded.
        failed: Measured requests that failed.
        in_flight: Requests in flight, warm-up included.
        elapsed_s: Seconds since the phase began.
        ttft_ms: The median TTFT of the latest requests; None before the first.
        requests: The number of requests of the session; None where its duration decides.
        duration_s: The duration of the session; None where its number of requests decides.
        run: In a sweep or a search, the number of the run, from 1; else None.
    """

    phase: str
    completed: int
    failed: int
    in_flight: int
    elapsed_s: float
    ttft_ms: float | None
    requests: int | None
    duration_s: float | None
    run: int | None = None


class _Listener(Observer):
    """The observer that passes a session's progress to the waiting thread."""

    def __init__(self) -> None:
        self._followed: tuple[Counters, Plan] | None = None
        self._run: int | None = None
        self._ask: Callable[[], None] | None = None
        self._stops = 0

    def note(self, text: str, *, apart: bool = False) -> None:
        """Log a warning."""
        del apart
        _LOG.warning("%s", text)

    def progress(self, text: str) -> None:
        """Log how far things are."""
        _LOG.info("%s", text)

    @contextmanager
    def session(self, progress: Counters, plan: Plan, log: Path | None, *, scored: bool) -> Iterator[None]:
        """Follow the counters of a session."""
        del log, scored
        self._followed = (progress, plan)
        try:
            yield
        finally:
            self._followed = None

    def stoppable(self, ask: Callable[[], None]) -> None:
        """Stop a session that begins after a request to stop."""
        self._ask = ask
        for _ in range(self._stops):
            ask()

    def run_begins(self, point: SeriesPoint, number: int, total: int, pause_s: float) -> None:
        """Count the runs of a series."""
        del pause_s
        self._run = number + 1
        _LOG.info("run %d of %d begins: %s", number + 1, total, point.name)

    def run_ended(self, outcome: PointOutcome, remark: str | None) -> None:
        """Log the end of a run."""
        _LOG.info(
            "run %d ended: %s%s", outcome.number + 1, outcome.point.name, f" ({remark})" if remark else ""
        )

    def stop(self) -> None:
        """Ask the session to stop: the session drains; a second request abandons requests in flight."""
        self._stops += 1
        if self._ask is not None:
            self._ask()

    def now(self) -> Progress | None:
        """How far the session is; None while there is none."""
        followed = self._followed
        if followed is None:
            return None
        counters, plan = followed
        started_ns = counters.phase_started_ns
        return Progress(
            counters.phase,
            counters.completed,
            counters.errors.total(),
            counters.in_flight,
            (monotonic_ns() - started_ns) / 1e9 if started_ns else 0.0,
            counters.ttft_ms(),
            plan.requests,
            plan.duration_s,
            self._run,
        )


class _Work(threading.Thread, Generic[Result]):
    """A thread that runs the work and stores the result or the error."""

    def __init__(self, work: Callable[[Observer], Result], listener: _Listener) -> None:
        super().__init__(name="loadgen-session", daemon=True)
        self._work = work
        self._listener = listener
        self.result: Result
        self.error: BaseException | None = None

    def run(self) -> None:
        """Run the work."""
        try:
            with one_tree():
                self.result = self._work(self._listener)
        except BaseException as error:  # noqa: BLE001 (it is raised in the thread that waits)
            self.error = error


def in_background(
    work: Callable[[Observer], Result], progress: Callable[[Progress], None] | None = None
) -> Result:
    """Run the work of a session in a thread, and wait for the result.

    A KeyboardInterrupt lets the session drain, a second one gives up what is in flight; the log is whole.

    Args:
        work: Gets the observer that the session reports to.
        progress: Called four times a second, in this thread, while requests are issued.

    Raises:
        UsageError: Another session runs in this process: they would measure each other.
        LoadgenError: As the work raises.
        KeyboardInterrupt: It came, and the session has ended.
    """
    from loadgen.sessions.files.run_folder import give_back
    from loadgen.sessions.interrupt import forget_stops

    if not _running.acquire(blocking=False):
        raise UsageError("a session runs in this process already: run them one after the other")
    listener = _Listener()
    thread = _Work(work, listener)
    stopped_by: BaseException | None = None
    try:
        forget_stops()
        thread.start()
        while thread.is_alive():
            try:
                thread.join(_INTERVAL_S)
                if progress is not None and (now := listener.now()) is not None:
                    progress(now)
            except BaseException as error:  # noqa: BLE001 (the session has to end in order first)
                stopped_by = stopped_by or error
                listener.stop()
    finally:
        give_back()
        _running.release()
    if stopped_by is not None:
        raise stopped_by
    if thread.error is not None:
        raise thread.error
    return thread.result
