"""Worker processes from start to end, before the configuration.

They are started before the parent knows what they are to do: what they import takes as long as its own
preparations.
"""

from __future__ import annotations

import os
import socket
import subprocess
from functools import partial
from typing import TYPE_CHECKING, Final

from loadgen.driver.client.redaction import VARIABLES
from loadgen.driver.client.transport import MEASURES_BEST, load_transport
from loadgen.driver.load import Open, in_flight
from loadgen.driver.system.child_process import exit_status, start_child
from loadgen.driver.system.fork import ForkedProcess, can_fork
from loadgen.driver.system.linux import LINUX
from loadgen.driver.system.memory import allow_many_files
from loadgen.driver.system.signals import blocked
from loadgen.driver.workers.shared_counter import SharedCounter

if TYPE_CHECKING:
    from collections.abc import Mapping
    from types import TracebackType
    from typing import Self

    from loadgen.driver.load import Load

PROCESS_NAME: Final = "loadgen-worker"
"""What `ps -o comm` shows of a worker that is a copy of its parent."""

EXIT_TIMEOUT_S: Final = 5.0
"""So long a worker may take to end after its parent has let go of it."""


class WorkerProcess:
    """A newly started worker: a process and the connection.

    Attributes:
        line: The parent's end of the socket; when it is closed, the worker ends.
    """

    def __init__(self, transport: str, counter: SharedCounter) -> None:
        self.line, theirs = socket.socketpair()
        with theirs, blocked():
            self._process = _process(theirs.fileno(), counter.fd, transport)
        self.pid = self._process.pid

    def kill(self) -> None:
        """Kill the process."""
        self._process.kill()

    def exit_status(self) -> str:
        """Wait for the end, after the connection is closed; return the exit status in words."""
        try:
            code = self._process.wait(EXIT_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            self.kill()
            code = self._process.wait()
        return exit_status(code)


class WorkerLauncher:
    """The worker processes of a session. A context manager that ends all processes."""

    def __init__(self, transport: str = MEASURES_BEST) -> None:
        self.counter = SharedCounter()
        self.processes: list[WorkerProcess] = []
        self._transport = transport
        # What this process may have open, a child may.
        allow_many_files()

    def spawn(self, workers: int) -> None:
        """Start workers until there are this many; raise OSError where the system does not allow it."""
        while len(self.processes) < workers:
            self.processes.append(WorkerProcess(self._transport, self.counter))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for process in self.processes:
            process.line.close()
            if error is not None:
                # It may not be listening yet, and the caller does not wait for that.
                process.kill()
        for process in self.processes:
            process.exit_status()
        self.counter.close()


def _process(line: int, counter: int, transport: str) -> ForkedProcess | subprocess.Popen[bytes]:
    """A fork of this process where safe: a fork starts ten times as fast as a program."""
    if not can_fork():
        return start_child(
            "loadgen.driver.workers.worker_process",
            *map(str, (line, counter)),
            transport,
            environment=_without_secrets(os.environ),
            pass_fds=(line, counter),
        )
    from loadgen.driver.workers.worker_process import main

    load_transport(transport)
    return ForkedProcess(
        PROCESS_NAME, partial(main, line, counter, transport), keep=(line, counter), without=VARIABLES
    )


def _without_secrets(environment: Mapping[str, str]) -> dict[str, str]:
    """The inherited environment of a worker: secrets travel over the connection."""
    return {name: value for name, value in environment.items() if name not in VARIABLES}


STREAMS_A_WORKER: Final = 500
"""How many requests in flight at once are one worker's."""

RATE_A_WORKER: Final = 1000.0
"""How many requests per second are one worker's."""


def workers_for(load: Load, requests: int | None, cpus: int, nodes: int = 1) -> int:
    """One worker, and one more for each further 500 requests in flight or 1,000 requests per second.

    Of the `cpus` of this process, or of each node, one is left to the parent, which writes the log.
    """
    peak_rate = load.peak_rate if isinstance(load, Open) else None
    if peak_rate is not None:
        wanted = peak_rate / RATE_A_WORKER / nodes
    else:
        wanted = (in_flight(load, requests) or 1) / STREAMS_A_WORKER / nodes
    return 1 + sum(worker < wanted for worker in range(1, cpus - 1))


def usable_cpus() -> int:
    """How many CPUs this process may use."""
    return len(os.sched_getaffinity(0)) if LINUX else os.cpu_count() or 1
