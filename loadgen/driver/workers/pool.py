"""Several worker processes that issue as one: workers share the load, and the parent writes the log."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, Final

from loadgen.driver.client.failure import Failure
from loadgen.driver.early_end import EarlyEnd
from loadgen.driver.errors import WorkerLostError
from loadgen.driver.load import Closed
from loadgen.driver.phase import Shard
from loadgen.driver.progress import SessionProgress
from loadgen.driver.workers.framing import Command, GiveUp, QueueBounds, WorkerConfig, packed
from loadgen.driver.workers.handle import WorkerHandle
from recorder.event import Event, EventType

if TYPE_CHECKING:
    from collections.abc import Sequence

    from loadgen.driver.client.endpoint import Endpoint
    from loadgen.driver.phase import Phase
    from loadgen.driver.plan import Plan
    from loadgen.driver.requests.request_source import RequestSource
    from loadgen.driver.stop import Stop
    from loadgen.driver.system.clock import Clock
    from loadgen.driver.workers.launcher import WorkerLauncher
    from recorder.schema import Row
    from recorder.writer import EventRecorder

ROOM_AGAIN: Final = 0.5
"""After the recorder's queue was too long, events are taken again when this share of its bound is left."""

LOOK_AGAIN_S: Final = 0.01
"""How often that is looked at; only then."""

PATIENCE_S: Final = 10.0
"""So long a worker may take to give up what is in flight, or to end; then it is killed."""

LOOKS: Final = 30
"""How many looks in a row must find a worker silent: a parent that was stopped itself has not looked."""

_REMEDY_BUG: Final = "The load generator has a bug: please report the bug, with the log."
_REMEDY_KILLED: Final = (
    "Unless a user killed the worker, the system did, for lack of memory. Check the kernel's "
    "log, free memory or lower the load, and run again."
)
_REMEDY_SILENT: Final = (
    "A silent worker was stopped (SIGSTOP, a debugger), or lacks CPU or memory. Free CPU and "
    "memory or lower the load, and run again."
)


class WorkerPool:
    """A pool of worker processes; see `loadgen.driver.load_session.WorkerGroup`."""

    lead_ns: Final = 2_000_000  #: enough for a message to reach a process that has to be woken first

    def __init__(
        self,
        launcher: WorkerLauncher,
        plan: Plan,
        recorder: EventRecorder,
        clock: Clock,
        stop: Stop,
        bounds: QueueBounds = QueueBounds(),  # noqa: B008 (a frozen value)
    ) -> None:
        self.progress = SessionProgress()
        self._plan = plan
        self._recorder = recorder
        recorder.expect_completeness()
        self._complete_until_ns = 0
        self._clock = clock
        self._stop = stop
        self._bounds = bounds
        self._counter = launcher.counter
        self._pause: asyncio.TimerHandle | None = None
        self._aborting: asyncio.TimerHandle | None = None
        self._reaping: list[asyncio.Task[str]] = []
        self._watch: asyncio.Task[None] | None = None
        self._early_end = EarlyEnd(plan, stop, recorder.put, clock, self.abort)
        self._workers = [
            WorkerHandle(number, process, self) for number, process in enumerate(launcher.processes)
        ]

    @property
    def in_flight(self) -> int:
        """The number of requests in flight by the workers' reports, at most 40 ms old."""
        return sum(len(worker.open) for worker in self._workers)

    # Before and after the session…

    def begin(
        self,
        endpoints: Sequence[Endpoint],
        source: RequestSource,
        connect_ahead: int = 0,
        node: Shard = Shard(),  # noqa: B008 (a frozen value)
    ) -> None:
        """Configure every worker, and open connections ahead of the first phase."""
        targets, questions = tuple(endpoints), packed(source, self._plan)
        for worker in self._workers:
            share = node.part(worker.number, len(self._workers))
            ahead = share.of(connect_ahead)
            worker.ask(WorkerConfig(self._plan, targets, questions, share, ahead, self._bounds, node))

    async def ready(self) -> None:
        """Return when every worker is ready; raise `WorkerLostError` if one never will be."""
        for worker in self._workers:
            await worker.answer
        for cause in self._reaping:
            raise WorkerLostError(f"{await cause}. Unless a user killed the worker, please report the crash")

    async def end(self) -> None:
        """End every worker after a last message."""
        self._early_end.cancel()
        for patience in (self._aborting, self._watch):
            if patience is not None:
                patience.cancel()
        killing = self._kill_later()
        await asyncio.gather(*(worker.ask(Command.END) for worker in self._workers))
        killing.cancel()
        await asyncio.gather(*self._reaping)
        for worker in self._workers:
            worker.release()
        if self._pause is not None:
            self._pause.cancel()

    # Messages to the workers…

    async def issue(self, phase: Phase) -> int:
        """Issue a phase from the start until a limit or a stop; return the number of scheduled requests."""
        self._counter.reset()
        self._watch = self._watch or asyncio.create_task(self._watch_over())
        for worker in self._workers:
            worker.issued = 0
        answers = [worker.ask(phase) for worker in self._workers]
        if isinstance(self._plan.load, Closed):
            # Who ends has seen the last number go, or the end come: the others may still wait for an answer.
            await asyncio.wait(answers, return_when=asyncio.FIRST_COMPLETED)
            self._tell_all(Command.EXHAUSTED)
        scheduled = await asyncio.gather(*answers)
        return sum(
            worker.issued if number is None else number
            for worker, number in zip(self._workers, scheduled, strict=True)
        )

    async def settle(self) -> None:
        """Await the end of all requests in flight, including the events."""
        await asyncio.gather(*(worker.ask(Command.SETTLE) for worker in self._workers))
        await asyncio.gather(*self._reaping)

    def stop(self) -> None:
        """Issue nothing more."""
        self._tell_all(Command.STOP)

    def abort(self, reason: str | None = None) -> None:
        """Abandon all requests in flight, and kill unresponsive workers; the log keeps the reason."""
        self._tell_all(GiveUp(reason))
        # A worker that gets this twice has had some of its patience already.
        self._aborting = self._aborting or self._kill_later()
        # What they have still to say is little, and their end must not wait for the disk.
        self._listen_to_all()

    def _tell_all(self, word: Command | GiveUp) -> None:
        for worker in self._workers:
            worker.tell(word)

    def _kill_later(self) -> asyncio.TimerHandle:
        """Kill, after a while, the workers that have not answered by then."""

        def kill() -> None:
            for worker in self._workers:
                if not worker.answer.done():
                    worker.kill(f"no end within {PATIENCE_S:g} s")

        return asyncio.get_running_loop().call_later(PATIENCE_S, kill)

    async def _watch_over(self) -> None:
        """Kill the workers that owe an answer but have fallen silent."""
        silent, received = dict.fromkeys(self._workers, 0), dict.fromkeys(self._workers, 0)
        while True:
            await asyncio.sleep(self._bounds.silence_s / LOOKS)
            for worker in self._workers:
                spoke = worker.messages_received != received[worker]
                excused = self._pause is not None or worker.answer.done() or spoke
                silent[worker] = 0 if excused else silent[worker] + 1
                received[worker] = worker.messages_received
                if silent[worker] == LOOKS:
                    worker.kill(f"no message for {self._bounds.silence_s:g} s")

    # Messages of workers…

    def on_rows(self, rows: list[Row], since_ns: int, size: int) -> None:
        """Record events; when too many wait to be written, let the workers wait with theirs."""
        self._recorder.put_rows(rows, since_ns, size)
        if self._pause is None and self._aborting is None and self._waits_more_than(1):
            for worker in self._workers:
                worker.ignore()
            self._look_again()

    def _look_again(self) -> None:
        self._pause = asyncio.get_running_loop().call_later(LOOK_AGAIN_S, self._listen_again)

    def _waits_more_than(self, share: float) -> bool:
        bounds, recorder = self._bounds, self._recorder
        return (
            recorder.waiting > share * bounds.recorder_events
            or recorder.waiting_bytes > share * bounds.recorder_bytes
        )

    def _listen_again(self) -> None:
        if self._waits_more_than(ROOM_AGAIN):
            self._look_again()
        else:
            self._listen_to_all()

    def _listen_to_all(self) -> None:
        if self._pause is None:
            return
        self._pause.cancel()
        self._pause = None
        for worker in self._workers:
            worker.listen()

    def on_completeness(self) -> None:
        """Log the moment up to which the log is complete; for a lost worker its last moment counts."""
        until_ns = min((worker.complete_until_ns for worker in self._workers if not worker.ended), default=0)
        if until_ns > self._complete_until_ns:
            self._complete_until_ns = until_ns
            self._recorder.complete_until(until_ns, force_commit=len(self._workers) == 1)

    def on_progress(self) -> None:
        """Add up the last reports of all workers, and end the session when the error budget is exceeded."""
        self.progress.add_up(worker.progress for worker in self._workers if worker.progress is not None)
        self._early_end.look(self.progress)

    def on_loss(self, worker: WorkerHandle) -> None:
        """End the requests that were open in a worker that is gone, and then the session."""
        # Before anything is counted: what was open in it is not a spent error budget.
        self._stop.drain("worker_lost")
        lost, now_ns = len(worker.open), self._clock.now_ns()
        message = f"worker {worker.number} was lost while the request was under way"
        for uuid in sorted(worker.open):
            data = {"error": Failure.WORKER_LOST.value, "message": message}
            self._recorder.put(Event(EventType.ERROR, now_ns, uuid, data))
        if worker.progress is not None:
            errors = worker.progress["errors"]
            errors[Failure.WORKER_LOST.value] = lost
            worker.progress["in_flight"] = 0
            self.on_progress()
        self._reaping.append(asyncio.create_task(self._reap(worker, lost)))

    async def _reap(self, worker: WorkerHandle, lost: int) -> str:
        """Reap a lost worker; log the cause, and return the cause."""
        status = await asyncio.to_thread(worker.process.exit_status)
        how = f"it crashed: {worker.crash_message}" if worker.crash_message else worker.killed_for or status
        what = f"worker {worker.number} of {len(self._workers)} was lost ({how})"
        data: dict[str, Any] = {
            "code": "worker_lost",
            "severity": "error",
            "message": f"{what[0].upper()}{what[1:]}, and the run was ended. {lost} requests in flight in "
            "that worker count as failed; events of the worker's last 40 ms may be missing.",
            "remedy": _remedy(worker),
        }
        self._recorder.put(Event(EventType.FINDING, self._clock.now_ns(), data=data))
        return what


def _remedy(worker: WorkerHandle) -> str:
    if worker.crash_message:
        return _REMEDY_BUG
    return _REMEDY_SILENT if worker.killed_for else _REMEDY_KILLED
