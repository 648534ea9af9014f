"""A child process that is a copy of this one: nothing has to be imported again, and memory is shared.

Only a process of one thread may be copied so: a lock that another thread held at that moment is never
released in the copy.
"""

from __future__ import annotations

import gc
import os
import select
import signal
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NoReturn

from loadgen.driver.system.linux import LINUX

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

_TASKS: Final = Path("/proc/self/task")
_STAT: Final = Path("/proc/self/stat")
_MEMORY: Final = Path("/proc/self/mem")
_COMM: Final = Path("/proc/self/comm")
_DESCRIPTORS: Final = Path("/proc/self/fd")

_ENVIRONMENT: Final = slice(47, 49)
"""Where `stat` has the first and the last address of the environment, counted behind the name (proc(5))."""


def can_fork() -> bool:
    """Whether this process has one thread, and the system tells when a child has ended.

    And whether the child can take secrets out of the environment that `/proc` shows of it.
    """
    return (
        LINUX
        and len(list(_TASKS.iterdir())) == 1
        and hasattr(os, "pidfd_open")
        and os.access(_MEMORY, os.R_OK | os.W_OK)
    )


class ForkedProcess:
    """A copy of this process that does some work and ends.

    It reads and writes nothing, but what it inherits and standard error.

    Raises:
        OSError: The system has no room for it.
    """

    def __init__(
        self, name: str, work: Callable[[], Any], *, keep: Collection[int], without: Collection[str] = ()
    ) -> None:
        self._code: int | None = None
        self.pid = os.fork()
        if self.pid == 0:
            _be_child(name, work, keep, without)
        self._ended = os.pidfd_open(self.pid)

    def kill(self) -> None:
        """Kill the process."""
        if self._code is None:
            os.kill(self.pid, signal.SIGKILL)

    def wait(self, timeout: float | None = None) -> int:
        """Wait for the end; return the exit code, or the negative number of a fatal signal.

        Raises:
            subprocess.TimeoutExpired: It has not ended within `timeout` seconds.
        """
        if self._code is None:
            poll = select.poll()
            poll.register(self._ended, select.POLLIN)
            if not poll.poll(None if timeout is None else timeout * 1e3):
                raise subprocess.TimeoutExpired("fork", timeout or 0)
            self._code = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
            os.close(self._ended)
        return self._code


def _be_child(
    name: str, work: Callable[[], Any], keep: Collection[int], without: Collection[str]
) -> NoReturn:
    """Do the work and end, whatever happens: nothing above on the stack may go on in two processes."""
    code = 1
    try:
        # What was copied may not be tidied up: its descriptors are other ones here.
        gc.freeze()
        _leave_open(keep)
        for variable in without:
            os.environ.pop(variable, None)
        _blank_removed_variables()
        _COMM.write_text(name)
        work()
        code = 0
    except SystemExit as end:
        code = _exit_code(end.code)
    except BaseException:  # noqa: BLE001 (as the interpreter does)
        sys.excepthook(*sys.exc_info())
    finally:
        os._exit(code)


def _blank_removed_variables() -> None:
    """Overwrite removed variables in `/proc/PID/environ`, which shows the initial environment."""
    first, last = map(int, _STAT.read_text().rpartition(")")[2].split()[_ENVIRONMENT])
    with _MEMORY.open("r+b", buffering=0) as memory:
        memory.seek(first)
        for entry in memory.read(last - first).split(b"\0"):
            name, _, value = entry.partition(b"=")
            if os.fsdecode(name) not in os.environ:
                memory.seek(first + len(name) + 1)
                memory.write(b"*" * len(value))
            first += len(entry) + 1


def _leave_open(keep: Collection[int]) -> None:
    """Let all descriptors but these and standard error lead nowhere.

    They are not closed: an object of the parent's that is freed here closes its descriptor, whose number must
    not be that of another file by then.
    """
    nowhere = os.open(os.devnull, os.O_RDWR)
    for descriptor in [int(link.name) for link in _DESCRIPTORS.iterdir()]:
        if descriptor not in {2, nowhere, *keep}:
            os.dup2(nowhere, descriptor, inheritable=False)


def _exit_code(code: object) -> int:
    if isinstance(code, str):
        sys.stderr.write(f"{code}\n")
    return code if isinstance(code, int) else int(code is not None)
