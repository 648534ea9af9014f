"""A grading process, from the parent's side."""

from __future__ import annotations

import os
import pickle
import signal
import socket
import subprocess
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

from loadgen.driver.system.child_process import exit_status, start_child
from loadgen.sessions.errors import SetupError

if TYPE_CHECKING:
    from collections.abc import Mapping

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
        """Wait until the process is ready.

        Raises:
            SetupError: It does not start.
        """
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
        """Send a message to the process.

        Raises:
            OSError: It has ended.
        """
        self._line.settimeout(START_TIMEOUT_S)
        self._line.sendall(pickle.dumps(value, pickle.HIGHEST_PROTOCOL))

    def has_line(self) -> bool:
        """Whether a further line has arrived."""
        return bool(self._came)

    def next_line(self, timeout_s: float) -> bytes:
        """Take the next line of the process' output, without the line end.

        Raises:
            TimeoutError: None comes in time.
            OSError: It has ended.
        """
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
