"""Child processes of the program, forked from a process that has imported it: no interpreter starts.

A worker, a grader or a mock endpoint takes 0.2 s of CPU time to start, and the suite starts hundreds. What
only a fresh interpreter shows (its command line in the list of processes, its environment, what it imports)
is tested with one.
"""

from __future__ import annotations

import asyncio
import gc
import importlib
import os
import pkgutil
import runpy
import signal
import subprocess
import sys
import tempfile
import threading
import warnings
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

CHILDREN = (
    "loadgen.mock_endpoint",
    "loadgen.driver.workers.worker_process",
    "loadgen.sessions.scoring.grading_process",
    "tests.sessions.plain_nodes",
)
"""What starts most often. Other children of the program use DuckDB, which does not survive a fork."""

_FRESH_POPEN = subprocess.Popen
_FORKING = threading.Lock()
"""One thread forks at a time: filelock, where a package has imported it, refuses a second one."""
_STANDARD_ERROR = 2


class ForkingPopen(subprocess.Popen[Any]):
    """`subprocess.Popen` that forks where the command is `python -P -m` and one of `modules`."""

    modules: Collection[str] = frozenset()

    def _execute_child(
        self,
        args: Any,
        executable: Any,
        preexec_fn: Any,
        close_fds: Any,
        pass_fds: Any,
        cwd: Any,
        env: Any,
        startupinfo: Any,
        creationflags: Any,
        shell: Any,
        p2cread: int,
        p2cwrite: int,
        c2pread: int,
        c2pwrite: int,
        errread: int,
        errwrite: int,
        *others: Any,
    ) -> None:
        """Start the command, with the arguments that `subprocess` has for it."""
        pipes = (p2cread, p2cwrite, c2pread, c2pwrite, errread, errwrite)
        if not self._is_ours(args):
            options = (executable, preexec_fn, close_fds, pass_fds, cwd, env, startupinfo, creationflags)
            super()._execute_child(args, *options, shell, *pipes, *others)  # type: ignore[misc]
            return
        _import_all(args[3])
        with _FORKING, warnings.catch_warnings():
            # The child runs nothing but Python code of its one thread.
            warnings.simplefilter("ignore", DeprecationWarning)
            self.pid = os.fork()
        if self.pid == 0:
            leads_session = others[5]
            _run(args[3], args[4:], env, (p2cread, c2pwrite, errwrite), pass_fds, leads_session=leads_session)
        self._child_created = True
        self._close_pipe_fds(*pipes)  # type: ignore[attr-defined]

    def _is_ours(self, args: Any) -> bool:
        return isinstance(args, list) and args[:3] == [sys.executable, "-P", "-m"] and args[3] in self.modules


def fork_children(*modules: str) -> None:
    """Let this process fork where it would start one of these modules."""
    ForkingPopen.modules = frozenset(modules)
    subprocess.Popen = ForkingPopen  # type: ignore[misc]


def start_children_afresh() -> None:
    """Let this process start its children as without tests."""
    subprocess.Popen = _FRESH_POPEN  # type: ignore[misc]


@cache
def _import_all(module: str) -> None:
    """Import what a package imports on use, so that not every child does."""
    package = importlib.import_module(module)
    for name in pkgutil.iter_modules(getattr(package, "__path__", []), f"{module}."):
        if not name.name.endswith("__main__"):
            importlib.import_module(name.name)


def _run(
    module: str,
    arguments: list[str],
    env: Mapping[str, str] | None,
    streams: tuple[int, int, int],
    inherited: Collection[int],
    *,
    leads_session: bool,
) -> NoReturn:
    """Become the child, as the interpreter would have started it, and end with it."""
    code = 1
    try:
        gc.disable()  # what was copied may not be tidied up: its descriptors are other ones here
        gc.freeze()
        if leads_session:
            os.setsid()
        _take_streams(streams, inherited)
        _forget_parent()
        if env is not None:
            os.environ.clear()
            os.environ.update(env)
        tempfile.tempdir = None
        sys.argv = [module, *arguments]
        gc.enable()
        code = _exit_code(module)
        with suppress(OSError, ValueError):
            sys.stdout.flush()
            sys.stderr.flush()
    finally:
        os._exit(code)


def _exit_code(module: str) -> int:
    """Run a module to its end, with the exit code that the interpreter would have."""
    try:
        runpy.run_module(module, run_name="__main__", alter_sys=True)
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    except KeyboardInterrupt:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGINT)
    except BaseException:  # noqa: BLE001 (as the interpreter does)
        sys.excepthook(*sys.exc_info())
        return 1
    return 0


def _take_streams(streams: tuple[int, int, int], inherited: Collection[int]) -> None:
    """Put the three streams in their places, and let what a new program would not have lead nowhere.

    It is not closed: an object of the parent's that is freed here closes its descriptor, whose number must
    not be that of a connection by then. The next connection would get the same number, and with it what both
    are sent.
    """
    sources = [os.dup(source if source >= 0 else number) for number, source in enumerate(streams)]
    for number, source in enumerate(sources):
        os.dup2(source, number)
    nowhere = os.open(os.devnull, os.O_RDWR)
    for descriptor in [int(link.name) for link in Path("/dev/fd").iterdir()]:
        if descriptor in inherited:
            os.set_inheritable(descriptor, True)  # noqa: FBT003
        elif descriptor > _STANDARD_ERROR and descriptor != nowhere:
            os.dup2(nowhere, descriptor, inheritable=False)
    sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115 (a descriptor)
    sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
    sys.stderr = open(2, "w", encoding="utf-8", closefd=False, buffering=1)  # noqa: SIM115


def _forget_parent() -> None:
    """Have the signals, warnings, hooks and event loop of a new interpreter."""
    with suppress(ValueError):
        signal.set_wakeup_fd(-1)
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGCHLD, signal.SIGUSR1, signal.SIGALRM):
        signal.signal(number, signal.SIG_DFL)
    signal.signal(signal.SIGPIPE, signal.SIG_IGN)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.setitimer(signal.ITIMER_REAL, 0)
    warnings.resetwarnings()
    warnings.simplefilter("ignore")
    sys.excepthook, sys.unraisablehook = sys.__excepthook__, sys.__unraisablehook__
    threading.excepthook = threading.__excepthook__
    asyncio.set_event_loop(None)
    asyncio._set_running_loop(None)
    sys.settrace(None)
