"""The program in a separate process, without the 0.6 s that its imports take.

A server process imports the program once and forks for each start: a real process with its own folder,
environment, streams, signals and exit status, which runs `loadgen/__main__.py` from its first line. What only
a fresh interpreter shows is tested with one: which modules a command imports, what an interrupt does
meanwhile, what is in the list of processes.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import pkgutil
import resource
import runpy
import select
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
from contextlib import suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Self

from tests.forking import CHILDREN, fork_children
from tests.parsed_queries import parse_queries

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

ROOT = Path(__file__).parents[1]
ROOMS = ("lazy_dataclasses", "loadgen", "recorder", "reporter", "rulesets", "workloads")
LIBRARIES = (
    "adbc_driver_sqlite",
    "aiohttp",
    "duckdb",
    "pyarrow.parquet",
    "matplotlib.backends.backend_svg",
    "matplotlib.figure",
    "rich.progress",
    "rich.table",
)
"""What the program imports on use."""

LEAKS = "default::ResourceWarning"
"""Has Python name on standard error what a program leaves open."""

GIVE_UP_S = 600.0
"""Far more than any command takes."""

_NUMBER = struct.Struct("i")
_MOST_SIGNALS = 4096


class Preloaded:
    """The server, as its clients see it. A context manager that ends it."""

    def __init__(self) -> None:
        self._one_at_a_time = threading.Lock()
        self._line, server_end = socket.socketpair()
        with server_end:
            self._server = subprocess.Popen(
                [sys.executable, "-W", LEAKS, "-m", "tests.preloaded", str(server_end.fileno())],
                cwd=ROOT,
                env=os.environ | {"PYTHONPATH": str(ROOT)},
                pass_fds=[server_end.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                start_new_session=True,
            )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._line.close()
        self._server.wait()

    def start(
        self,
        *arguments: object,
        cwd: Path,
        env: Mapping[str, str],
        stdout: Any = subprocess.PIPE,
        stderr: Any = subprocess.PIPE,
        leads_session: bool = False,
        limits: Mapping[int, int] | None = None,
        constants: Mapping[str, float] | None = None,
        fresh_children: bool = False,
    ) -> Process:
        """Start `loadgen` with these arguments.

        Args:
            *arguments: Of the command line.
            cwd: The folder where it starts.
            env: All of its environment.
            stdout: A file, a descriptor, or a pipe that `Process.stdout` reads.
            stderr: As above.
            leads_session: Whether it leads a new session, and so a process group.
            limits: Its limits by the numbers that `resource` has for them, soft and hard.
            constants: Other values for constants of the program, by `module:name`.
            fresh_children: Whether its child processes start in separate interpreters.
        """
        request = {
            "arguments": [str(argument) for argument in arguments],
            "cwd": str(cwd),
            "env": dict(env),
            "leads_session": leads_session,
            "limits": list((limits or {}).items()),
            "constants": dict(constants or {}),
            "fresh_children": fresh_children,
        }
        body = json.dumps(request).encode()
        out_read, out_write = os.pipe()
        error_read, error_write = os.pipe()
        report, server_report = socket.socketpair()
        targets = (
            out_write if stdout == subprocess.PIPE else stdout,
            error_write if stderr == subprocess.PIPE else stderr,
        )
        descriptors = [target if isinstance(target, int) else target.fileno() for target in targets]
        descriptors.append(server_report.fileno())
        with server_report:
            self.pass_on(_NUMBER.pack(len(body)), body, descriptors)
        os.close(out_write)
        os.close(error_write)
        return Process(request["arguments"], report, out_read, error_read)

    def pass_on(self, header: bytes, body: bytes, descriptors: list[int]) -> None:
        """Send a request to the server.

        Args:
            header: The length of the body, in bytes.
            body: The JSON of what `start` is called with.
            descriptors: Standard output, standard error, and the socket that the pid and the exit code go to.
        """
        with self._one_at_a_time:
            socket.send_fds(self._line, [header], descriptors)
            self._line.sendall(body)

    def run(self, *arguments: object, **options: Any) -> subprocess.CompletedProcess[str]:
        """Start the program as `start` does, and wait for its end.

        Raises:
            subprocess.TimeoutExpired: It is not over after `GIVE_UP_S`, and was killed.
        """
        process = self.start(*arguments, **options)
        try:
            out, errors = process.communicate(timeout=GIVE_UP_S)
        finally:
            process.kill()
        return subprocess.CompletedProcess(process.args, process.wait(), out, errors)


class Process:
    """A started program, with what tests use of `subprocess.Popen`; output is text.

    Attributes:
        args: Its arguments.
        pid: Its process id.
        returncode: None until it is known that the process has ended; negative for a signal.
        stdout: Its standard output, unless that goes elsewhere: then there is nothing to read. None once the
            test has closed it.
        stderr: Its standard error; as above.
    """

    def __init__(self, arguments: list[str], report: socket.socket, stdout: int, stderr: int) -> None:
        self.args = arguments
        self.returncode: int | None = None
        self.stdout: IO[str] | None = open(stdout, encoding="utf-8")  # noqa: SIM115 (a descriptor)
        self.stderr: IO[str] | None = open(stderr, encoding="utf-8")  # noqa: SIM115
        self._report = report
        self.pid = self._number()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def poll(self) -> int | None:
        """The exit code; None while it runs."""
        try:
            return self.wait(timeout=0)
        except subprocess.TimeoutExpired:
            return None

    def wait(self, timeout: float | None = None) -> int:
        """Wait for its end, at most this many seconds.

        Raises:
            subprocess.TimeoutExpired: It still runs.
        """
        if self.returncode is None:
            self._report.settimeout(timeout)
            try:
                self.returncode = self._number()
            except (BlockingIOError, TimeoutError) as error:
                raise subprocess.TimeoutExpired(self.args, timeout or 0) from error
        return self.returncode

    def communicate(self, *, timeout: float | None = None) -> tuple[str, str]:
        """Read standard output and standard error to their ends, and wait for its own.

        Raises:
            subprocess.TimeoutExpired: It has not ended by then.
        """
        texts = ["", ""]

        def read(place: int, stream: IO[str] | None) -> None:
            texts[place] = stream.read() if stream else ""

        readers = [
            threading.Thread(target=read, args=pair, daemon=True)
            for pair in enumerate((self.stdout, self.stderr))
        ]
        for reader in readers:
            reader.start()
        self.wait(timeout)
        for reader in readers:
            reader.join(timeout)
            if reader.is_alive():
                raise subprocess.TimeoutExpired(self.args, timeout or 0)
        self.close()
        return texts[0], texts[1]

    def send_signal(self, number: int) -> None:
        """Send a signal, unless it has ended."""
        if self.poll() is None:
            os.kill(self.pid, number)

    def terminate(self) -> None:
        """Send SIGTERM."""
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        """Send SIGKILL."""
        self.send_signal(signal.SIGKILL)

    def _number(self) -> int:
        """What the server reports next."""
        if not (report := self._report.recv(_NUMBER.size, socket.MSG_WAITALL)):
            raise RuntimeError("the server that starts programs has ended; it has printed why")
        (number,) = _NUMBER.unpack(report)
        return int(number)

    def close(self) -> None:
        """Wait for its end, and close what it is read by; once or more often."""
        self.wait()
        for stream in (self.stdout, self.stderr, self._report):
            if stream is not None:
                stream.close()


class _Server:
    """Forks for each request, until there is no client any more.

    Args:
        line: The connection to the client.
    """

    def __init__(self, line: socket.socket) -> None:
        self._line = line
        self._reports: dict[int, socket.socket] = {}

    def serve(self) -> dict[str, Any] | None:
        """Return in every forked process, with its request; in the server once the client has gone: None."""
        ends, wakes = socket.socketpair()
        ends.settimeout(0)
        wakes.settimeout(0)
        # A handler in Python could run amid another's `waitpid`: the loop alone waits for processes.
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(wakes.fileno(), warn_on_full_buffer=False)
        while True:
            readable, _, _ = select.select([self._line, ends], [], [])
            if ends in readable:
                ends.recv(_MOST_SIGNALS)
                self._reap()
            if self._line not in readable:
                continue
            header, descriptors, _, _ = socket.recv_fds(self._line, _NUMBER.size, 3)
            if not header:
                return None
            (length,) = _NUMBER.unpack(header)
            request = json.loads(self._line.recv(length, socket.MSG_WAITALL))
            if (pid := os.fork()) == 0:
                signal.set_wakeup_fd(-1)
                for inherited in (self._line, ends, wakes, *self._reports.values()):
                    inherited.detach()
                _take_over(request, descriptors)
                return request
            report = socket.socket(fileno=descriptors.pop())
            report.sendall(_NUMBER.pack(pid))
            self._reports[pid] = report
            for descriptor in descriptors:
                os.close(descriptor)

    def _reap(self) -> None:
        """Report how processes ended."""
        while self._reports:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if not pid:
                return
            with self._reports.pop(pid) as report, suppress(OSError):
                report.sendall(_NUMBER.pack(os.waitstatus_to_exitcode(status)))


def _take_over(request: dict[str, Any], descriptors: list[int]) -> None:
    """Become the process that the request is for, as the interpreter would have started it."""
    if request["leads_session"]:
        os.setsid()
    with open(os.devnull, "rb") as nothing:  # noqa: PTH123 (a descriptor)
        for number, source in enumerate((nothing.fileno(), *descriptors[:2])):
            os.dup2(source, number)
    os.closerange(3, 256)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    for limit, value in request["limits"]:
        resource.setrlimit(limit, (value, value))
    for place, value in request["constants"].items():
        module, _, name = place.partition(":")
        assert hasattr(sys.modules[module], name), place
        setattr(sys.modules[module], name, value)
    os.chdir(request["cwd"])
    os.environ.clear()
    os.environ.update(request["env"])
    tempfile.tempdir = None
    # `sys.orig_argv` stays that of the server: this is what the list of processes shows, without any secret.
    sys.argv = [str(ROOT / "loadgen" / "__main__.py"), *request["arguments"]]
    sys.path[0] = request["cwd"]


def _modules() -> Iterator[str]:
    """All of the program."""
    for room in ROOMS:
        yield room
        for module in pkgutil.walk_packages([str(ROOT / room)], f"{room}."):
            if not module.name.endswith("__main__"):
                yield module.name


def _main() -> None:
    """Import, serve; and in a forked process run the program."""
    for name in (*_modules(), *LIBRARIES):
        importlib.import_module(name)
    parse_queries()
    gc.collect()
    gc.freeze()
    request = _Server(socket.socket(fileno=int(sys.argv[1]))).serve()
    if request is None:
        os._exit(0)  # without what libraries say of what a server never gave back
    if not request["fresh_children"]:
        fork_children(*CHILDREN)
    runpy.run_module("loadgen", run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    _main()
