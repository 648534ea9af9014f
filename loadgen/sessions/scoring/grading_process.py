"""The main function of a grading process: grades answers one by one, and ends with the parent.

    python -m loadgen.sessions.scoring.grading_process LINE PARENT

The numbers are of an inherited file descriptor and of the parent's process. What graders print goes to
standard error, so that nothing gets between the parent and its results. It has its own session: signals of
a terminal do not reach it, and the parent ends it with all processes that it has started.
"""

from __future__ import annotations

import os
import pickle
import resource
import signal
import socket
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

import orjson

from loadgen.sessions.scoring.choice import scorer_named
from loadgen.sessions.scoring.grading_work import MISSING, NO_STATUS, Grading, grade, scored_payload
from workloads.registry import service

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from workloads.scorer import Scorer

_DIE_WITH_PARENT: Final = 1
"""PR_SET_PDEATHSIG of Linux's prctl."""


def main() -> None:
    """Grade until the parent closes the line or ends."""
    line, parent = socket.socket(fileno=int(sys.argv[1])), int(sys.argv[2])
    _end_with(parent)
    sys.stdout = sys.stderr
    with suppress(EOFError, OSError, pickle.UnpicklingError), line.makefile("rb") as messages:
        instructions = pickle.load(messages)  # noqa: S301 (by the parent)
        limit_memory(instructions["memory"])
        try:
            if instructions["sandbox"] is not None:
                service("use_sandbox")(instructions["sandbox"])
            scorers = [scorer_named(task, name) for task, name in instructions["scorers"]]
        except Exception as error:  # noqa: BLE001 (the parent says it to the user)
            line.sendall(f"{' '.join(str(error).split())}\n".encode())
            return
        line.sendall(b"\n")
        try:
            while True:
                _grade_all(line, pickle.load(messages), scorers, instructions)  # noqa: S301 (by the parent)
        except MISSING as error:
            line.sendall(b"%b %b\n" % (NO_STATUS, str(error).encode()))


def _grade_all(
    line: socket.socket, batch: Sequence[Grading], scorers: Sequence[Scorer], about: Mapping[str, Any]
) -> None:
    """Grade one answer after the other, and send each result before the next is begun."""
    process = os.getpid()
    for stored, number in batch:
        score = grade(scorers[number], stored, *about["judge"])
        if os.getpid() != process:
            os._exit(0)  # a process that a grader has forked must not send results
        payload = orjson.dumps(scored_payload(about["pass"], scorers[number].name, score))
        line.sendall(b"%b %b\n" % (score.status.encode(), payload))


def limit_memory(size: int) -> None:
    """Limit the memory of this process, in bytes: more is a MemoryError."""
    _, limit = resource.getrlimit(resource.RLIMIT_DATA)
    size = size if limit == resource.RLIM_INFINITY else min(size, limit)
    with suppress(ValueError, OSError):  # a system that knows no such limit has none
        resource.setrlimit(resource.RLIMIT_DATA, (size, limit))


def _end_with(parent: int) -> None:
    """Let the kernel end this process with the parent, even in a grader that never returns."""
    if sys.platform == "linux":
        import ctypes

        ctypes.CDLL(None).prctl(_DIE_WITH_PARENT, signal.SIGKILL)
        if os.getppid() != parent:
            os._exit(0)


if __name__ == "__main__":
    main()
