"""The life of a grading process: it judges answers one by one, and ends with the parent.

    python -m loadgen.sessions.scoring.process LINE PARENT

The numbers are of an inherited file descriptor and of the parent's process. What graders print goes to
standard error, so that nothing gets between the parent and its results. It has a session of its own: what a
terminal sends to everybody does not reach it, and the parent ends it with all that it has started.
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
from loadgen.sessions.scoring.grading import MISSING, NO_STATUS, grade, told

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from loadgen.sessions.scoring.grading import Grading
    from workloads.scorer import Scorer

_DIE_WITH_PARENT: Final = 1
"""PR_SET_PDEATHSIG of Linux's prctl."""


def main() -> None:
    """Judge until the parent lets go of the line, or is gone."""
    line, parent = socket.socket(fileno=int(sys.argv[1])), int(sys.argv[2])
    _end_with(parent)
    sys.stdout = sys.stderr
    with suppress(EOFError, OSError, pickle.UnpicklingError), line.makefile("rb") as said:
        told_first = pickle.load(said)  # noqa: S301 (by the parent)
        limit_memory(told_first["memory"])
        try:
            scorers = [scorer_named(task, name) for task, name in told_first["scorers"]]
        except Exception as error:  # noqa: BLE001 (the parent says it to the user)
            line.sendall(f"{' '.join(str(error).split())}\n".encode())
            return
        line.sendall(b"\n")
        try:
            while True:
                _grade_all(line, pickle.load(said), scorers, told_first)  # noqa: S301 (by the parent)
        except MISSING as error:
            line.sendall(b"%b %b\n" % (NO_STATUS, str(error).encode()))


def _grade_all(
    line: socket.socket, batch: Sequence[Grading], scorers: Sequence[Scorer], about: Mapping[str, Any]
) -> None:
    """Judge one answer after the other, and tell of each before the next is begun."""
    process = os.getpid()
    for stored, number in batch:
        score = grade(scorers[number], stored, *about["judge"])
        if os.getpid() != process:
            os._exit(0)  # a process that a grader has begun has nothing to say here
        payload = orjson.dumps(told(about["pass"], scorers[number].name, score))
        line.sendall(b"%b %b\n" % (score.status.encode(), payload))


def limit_memory(size: int) -> None:
    """Let this process have so many bytes of memory of its own: more of it is a MemoryError."""
    _, most = resource.getrlimit(resource.RLIMIT_DATA)
    size = size if most == resource.RLIM_INFINITY else min(size, most)
    with suppress(ValueError, OSError):  # a system that knows no such limit has none
        resource.setrlimit(resource.RLIMIT_DATA, (size, most))


def _end_with(parent: int) -> None:
    """Have the kernel end this process with its parent, should it be in a grader that never comes back."""
    if sys.platform == "linux":
        import ctypes

        ctypes.CDLL(None).prctl(_DIE_WITH_PARENT, signal.SIGKILL)
        if os.getppid() != parent:
            os._exit(0)


if __name__ == "__main__":
    main()
