"""One grader: a grading process that is replaced after a crash, at the cost of one answer at most.

A grader is arbitrary code: it may loop without end, exhaust memory, or end its process. If the process takes
too long or dies, the answer that it was grading has no score but a reason; a new one continues with the next.
"""

from __future__ import annotations

import os
import pickle
import signal
import socket
import subprocess
import threading
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import orjson

from lazy_dataclasses import dataclass
from loadgen.driver.system.child_process import exit_status, start_child
from loadgen.sessions.errors import SetupError
from loadgen.sessions.scoring.grading_work import NO_STATUS, Grading, scored_payload
from reporter.json_values import members, number
from workloads.errors import ExtraError
from workloads.score import Status, failed

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from workloads.sandbox_contract import SandboxSpec
    from workloads.scorer import Scorer

START_TIMEOUT_S: Final = 600.0
"""The imports of a grader may be big, and on a slow disk."""

EXIT_TIMEOUT_S: Final = 5.0
"""How long a process may take to end when its line is closed."""

_READ_BYTES: Final = 1 << 16

_ONE_THREAD: Final = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
"""There is a process for each core."""

_SAME_ORDER: Final = {"PYTHONHASHSEED": "0"}
"""Sets have the same order in every process: a grader that depends on it always gives the same score."""


class GraderProcess:
    """A grading process, just started."""

    def __init__(self, without: frozenset[str] = frozenset()) -> None:
        self._line, theirs = socket.socketpair()
        self._came: list[bytes] = []
        self._rest = b""
        inherited = {name: value for name, value in os.environ.items() if name not in without}
        with theirs:
            self._process = start_child(
                "loadgen.sessions.scoring.grading_process",
                str(theirs.fileno()),
                str(os.getpid()),
                environment=inherited | _ONE_THREAD | _SAME_ORDER,
                pass_fds=(theirs.fileno(),),
                start_new_session=True,
            )

    def begin(self, instructions: Mapping[str, Any]) -> None:
        """Wait until the process is ready."""
        try:
            self.send(instructions)
            problem = self.next_line(START_TIMEOUT_S)
        except TimeoutError:
            problem = b"it does not answer"
        except OSError:
            problem = self.end(EXIT_TIMEOUT_S).encode()
        if problem:
            raise SetupError(f"a grading process did not start: {problem.decode()}")

    def send(self, value: Any) -> None:
        """Send a message to the process."""
        self._line.settimeout(START_TIMEOUT_S)
        self._line.sendall(pickle.dumps(value, pickle.HIGHEST_PROTOCOL))

    def has_line(self) -> bool:
        """Whether a further line has arrived."""
        return bool(self._came)

    def next_line(self, timeout_s: float) -> bytes:
        """Take the next line of the process' output, without the line end."""
        while not self._came:
            self._line.settimeout(timeout_s)
            data = self._line.recv(_READ_BYTES)
            if not data:
                raise ConnectionResetError
            *lines, self._rest = (self._rest + data).split(b"\n")
            self._came = lines[::-1]
        return self._came.pop()

    def kill(self) -> None:
        """Kill the process and all descendants."""
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)

    def end(self, patience_s: float = 0.0) -> str:
        """Await or force the end of the process and all descendants; return the ending."""
        self._line.close()
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(patience_s)
        self.kill()
        code = self._process.wait()
        return exit_status(code)


CODE_TIMES: Final = 10
"""How many times as long a scorer that runs a model's program may take: that has its own limits."""


class Result(NamedTuple):
    """The result of one grading."""

    sample_uuid: str
    status: str
    payload: str
    value: float | None = None


@dataclass(frozen=True, slots=True)
class GraderConfig:
    """How graders of a pass grade.

    Attributes:
        scorers: Each with the task that it is of; a grading names one by its number.
        pass_number: Of the pass, for the results.
        judge: The model whose replies count, and how it is sampled (`JudgeAnswer.sampling`); None for the
            latest.
        seconds: For one answer; see `CODE_TIMES` and `Scorer.seconds`.
        memory: Bytes, of a process.
        without: Variables of the environment that the processes do not inherit.
        sandbox: Where programs of the model run.
    """

    scorers: Sequence[tuple[str, Scorer]]
    pass_number: int
    judge: tuple[str | None, str | None]
    seconds: float
    memory: int
    without: frozenset[str] = frozenset()
    sandbox: SandboxSpec | None = None

    def instructions(self) -> Mapping[str, Any]:
        """The first message to a process: see `loadgen.sessions.scoring.grading_process`."""
        return {
            "scorers": [(task, scorer.name) for task, scorer in self.scorers],
            "pass": self.pass_number,
            "judge": self.judge,
            "memory": self.memory,
            "sandbox": self.sandbox,
        }


class ProcessGrader:
    """A grader with a process of this machine; see `loadgen.sessions.scoring.grader_pool.Grader`."""

    def __init__(self, config: GraderConfig) -> None:
        self._config = config
        self._member: GraderProcess | None = None
        self._closing = threading.Event()

    def grade(self, batch: Sequence[Grading], give: Callable[[list[Result]], None]) -> None:
        """Let the process grade a batch; after a crash, let new processes grade the rest."""
        came: list[Result] = []
        while batch and not self._closing.is_set():
            member = self._member or self._hired()
            done, ended = self._until_ended(member, batch, came, give)
            batch = batch[done:]
            if ended is not None and not self._closing.is_set():
                came.append(self._without_score(batch[0], ended))
                batch = batch[1:]
        _give(came, give)

    def kill(self) -> None:
        """End the process immediately, without a replacement."""
        self._closing.set()
        member = self._member
        if member is not None:
            member.kill()

    def close(self) -> None:
        """End the process, which grades nothing."""
        member = self._member
        if member is not None:
            self._lose(member, EXIT_TIMEOUT_S)

    def _until_ended(
        self,
        member: GraderProcess,
        batch: Sequence[Grading],
        came: list[Result],
        give: Callable[[list[Result]], None],
    ) -> tuple[int, str | None]:
        """Collect results until the last, or until a crash; return the number, and the crash."""
        done = 0
        try:
            member.send(batch)
            for grading in batch:
                if not member.has_line():
                    _give(came, give)
                limit_s = self._seconds(grading)
                status, _, payload = member.next_line(limit_s).partition(b" ")
                if status == NO_STATUS:
                    raise ExtraError(payload.decode())
                came.append(_result(grading, status, payload))
                done += 1
        except ValueError:
            self._lose(member)
            return done, "the grader disturbed its process, and its output is not a score"
        except TimeoutError:
            self._lose(member)
            return done, f"the grader took more than {limit_s:g} s"
        except OSError:
            return done, f"the grader's process ended: {self._lose(member, EXIT_TIMEOUT_S)}"
        return done, None

    def _seconds(self, grading: Grading) -> float:
        _, scorer = self._config.scorers[grading.scorer]
        seconds = self._config.seconds
        if scorer.seconds is not None:
            return max(scorer.seconds, seconds)
        return seconds * (CODE_TIMES if scorer.runs_code else 1)

    def _without_score(self, grading: Grading, why: str) -> Result:
        score = failed(why)
        _, scorer = self._config.scorers[grading.scorer]
        payload = orjson.dumps(scored_payload(self._config.pass_number, scorer.name, score))
        return Result(grading.stored.sample_uuid, score.status, payload.decode())

    def _hired(self) -> GraderProcess:
        member = GraderProcess(self._config.without)
        self._member = member
        try:
            member.begin(self._config.instructions())
        except BaseException:
            self._lose(member)
            raise
        return member

    def _lose(self, member: GraderProcess, patience_s: float = 0.0) -> str:
        self._member = None
        return member.end(patience_s)


def _give(came: list[Result], give: Callable[[list[Result]], None]) -> None:
    if came:
        give(came.copy())
        came.clear()


def _result(grading: Grading, status: bytes, payload: bytes) -> Result:
    value = number(members(orjson.loads(payload)).get("value"))
    return Result(grading.stored.sample_uuid, Status(status.decode()), payload.decode(), value)
