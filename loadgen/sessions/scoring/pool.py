"""The grading processes, one per core, each with its own failures.

A grader is arbitrary code: it may loop without end, exhaust memory, or end its process. So each process has a
thread here that waits for its results one by one. If a process takes too long or dies, the answer that it was
grading has no score but a reason; a new process continues with the next.
"""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass
from itertools import islice
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Self

import orjson

from loadgen.sessions.scoring.grading import NO_STATUS, scored_payload
from loadgen.sessions.scoring.member import EXIT_TIMEOUT_S, GraderProcess
from reporter.kinds import members, number
from workloads.errors import ExtraError
from workloads.score import Status, failed

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from types import TracebackType

    from loadgen.sessions.scoring.grading import Grading
    from workloads.sandbox.base import SandboxSpec
    from workloads.scorer import Scorer

TICK_S: Final = 0.25
"""How often an empty list of results is given, so that the caller can show that it waits."""

BATCHES_A_PROCESS: Final = 2
"""Batches per process: one in work, and the next one."""

FIRST_BATCH: Final = 8
MOST_AT_ONCE: Final = 256
BATCH_S: Final = 0.05
"""The time that a batch should take: little to repeat if the process dies, and few messages."""

CODE_TIMES: Final = 10
"""How many times as long a scorer that runs a model's program may take: that has its own limits."""


class Result(NamedTuple):
    """The result of one grading.

    Attributes:
        sample_uuid: The request whose answer it is.
        status: The status of its score.
        payload: The payload of its SCORED event, as JSON.
        value: Its score; None without one.
    """

    sample_uuid: str
    status: str
    payload: str
    value: float | None = None


@dataclass(frozen=True, slots=True)
class GraderLimits:
    """The limits of a grader.

    Attributes:
        seconds: For one answer; see `CODE_TIMES` and `Scorer.seconds`.
        memory: Bytes, of a process.
    """

    seconds: float
    memory: int


class Pool:
    """Grading processes; a context manager that ends them.

    Args:
        scorers: Each with the task that it is of; a grading names one by its number.
        pass_number: Of the pass, for the results.
        judge: The model whose replies count, and how it is sampled (`JudgeAnswer.sampling`); None
            for the latest.
        processes: The number of processes.
        limits: The limits of a grader.
        without: Variables of the environment that the processes do not inherit.
        sandbox: Where programs of the model run.
    """

    def __init__(
        self,
        scorers: Sequence[tuple[str, Scorer]],
        pass_number: int,
        judge: tuple[str | None, str | None],
        processes: int,
        limits: GraderLimits,
        without: frozenset[str] = frozenset(),
        sandbox: SandboxSpec | None = None,
    ) -> None:
        self._scorers = [scorer for _, scorer in scorers]
        self._pass = pass_number
        self._limits = limits
        self._without = without
        self._begin: Mapping[str, Any] = {
            "scorers": [(task, scorer.name) for task, scorer in scorers],
            "pass": pass_number,
            "judge": judge,
            "memory": limits.memory,
            "sandbox": sandbox,
        }
        self._todo: SimpleQueue[list[Grading] | None] = SimpleQueue()
        self._done: SimpleQueue[list[Result] | Exception | None] = SimpleQueue()
        self._members: set[GraderProcess] = set()
        self._closing = threading.Event()
        self._pace_s = 0.0
        self._threads = [
            threading.Thread(target=self._serve, name=f"grading-{number}", daemon=True)
            for number in range(processes)
        ]

    def results(self, gradings: Iterator[Grading]) -> Iterator[list[Result]]:
        """Grade, and yield results as they come, in any order; at times an empty list.

        Raises:
            SetupError: A process does not start.
            ExtraError: A grader needs a package, or a model, that is missing.
        """
        for thread in self._threads:
            thread.start()
        out = 0
        while True:
            while out < BATCHES_A_PROCESS * len(self._threads) and (batch := self._batch(gradings)):
                self._todo.put(batch)
                out += 1
            if not out:
                return
            try:
                came = self._done.get(timeout=TICK_S)
            except Empty:
                came = []
            if isinstance(came, Exception):
                raise came
            if came is None:
                out -= 1
            else:
                yield came

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._closing.set()
        begun = [thread for thread in self._threads if thread.ident is not None]
        for _ in begun:
            self._todo.put(None)
        while any(thread.is_alive() for thread in begun):
            # Idle processes end by themselves; busy ones are killed if the results are no longer wanted.
            for member in list(self._members) if error else ():
                member.kill()
            for thread in begun:
                thread.join(TICK_S / len(begun))

    def _batch(self, gradings: Iterator[Grading]) -> list[Grading]:
        batch_size = max(1, min(MOST_AT_ONCE, int(BATCH_S / self._pace_s))) if self._pace_s else FIRST_BATCH
        return list(islice(gradings, batch_size))

    # In the thread of a process…

    def _serve(self) -> None:
        member = None
        try:
            while (batch := self._todo.get()) is not None and not self._closing.is_set():
                since = time.monotonic()
                member = self._grade(batch, member)
                self._pace_s = (time.monotonic() - since) / len(batch)
                self._done.put(None)
        except Exception as error:  # noqa: BLE001 (raised again where the results are waited for)
            self._done.put(error)
        finally:
            if member is not None:
                self._lose(member, EXIT_TIMEOUT_S)

    def _grade(self, batch: list[Grading], member: GraderProcess | None) -> GraderProcess | None:
        """Let a process grade a batch; if it dies, let new ones grade the rest."""
        came: list[Result] = []
        while batch and not self._closing.is_set():
            member = member or self._hired()
            done, ended = self._until_ended(member, batch, came)
            batch = batch[done:]
            if ended is not None and not self._closing.is_set():
                came.append(self._without_score(batch[0], ended))
                batch = batch[1:]
            if ended is not None:
                member = None
        self._give(came)
        return member

    def _until_ended(
        self, member: GraderProcess, batch: list[Grading], came: list[Result]
    ) -> tuple[int, str | None]:
        """Take results until the last, or until the process is lost; return their number, and why."""
        done = 0
        try:
            member.send(batch)
            for grading in batch:
                if not member.has_line():
                    self._give(came)
                limit_s = self._seconds(grading)
                status, _, payload = member.next_line(limit_s).partition(b" ")
                if status == NO_STATUS:
                    raise ExtraError(payload.decode())
                came.append(_result(grading, status, payload))
                done += 1
        except ValueError:
            self._lose(member)
            return done, "the grader disturbed its process: its output is not a score"
        except TimeoutError:
            self._lose(member)
            return done, f"the grader took more than {limit_s:g} s"
        except OSError:
            return done, f"the grader's process ended: {self._lose(member, EXIT_TIMEOUT_S)}"
        return done, None

    def _seconds(self, grading: Grading) -> float:
        scorer = self._scorers[grading.scorer]
        if scorer.seconds is not None:
            return max(scorer.seconds, self._limits.seconds)
        return self._limits.seconds * (CODE_TIMES if scorer.runs_code else 1)

    def _without_score(self, grading: Grading, why: str) -> Result:
        score = failed(why)
        payload = orjson.dumps(scored_payload(self._pass, self._scorers[grading.scorer].name, score))
        return Result(grading.stored.sample_uuid, score.status, payload.decode())

    def _give(self, came: list[Result]) -> None:
        """Pass on the results."""
        if came:
            self._done.put(came.copy())
            came.clear()

    def _hired(self) -> GraderProcess:
        member = GraderProcess(self._without)
        self._members.add(member)
        try:
            member.begin(self._begin)
        except BaseException:
            self._lose(member)
            raise
        return member

    def _lose(self, member: GraderProcess, patience_s: float = 0.0) -> str:
        self._members.discard(member)
        return member.end(patience_s)


def _result(grading: Grading, status: bytes, payload: bytes) -> Result:
    """Parse the result of a grading.

    Raises:
        ValueError: It is not a result: a grader has written to descriptors that are not its own.
    """
    value = number(members(orjson.loads(payload)).get("value"))
    return Result(grading.stored.sample_uuid, Status(status.decode()), payload.decode(), value)
