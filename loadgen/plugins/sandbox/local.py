"""Processes of this machine as a sandbox: isolated as far as the kernel allows, limited, then removed.

docs/security.md says what holds with and without namespaces. Only where that is allowed
(`--allow-code-execution`) does anything run here.
"""

from __future__ import annotations

import json
import os
import selectors
import signal
import struct
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from dataclasses import asdict
from functools import cache
from pathlib import Path
from secrets import token_hex
from typing import TYPE_CHECKING, Final

from loadgen.plugins.sandbox.job import Job, ProgramLimits, ProgramOutcome, SealedOutput
from loadgen.plugins.sandbox.supervisor import PREFIX, remove
from workloads.sandbox_contract import SandboxError

if TYPE_CHECKING:
    from collections.abc import Iterator

_SUPERVISOR: Final = Path(__file__).with_name("supervisor.py")
_LENGTH: Final = struct.Struct("=Q")
_PIECE: Final = 2**16
_END_BYTES: Final = 2**18
"""Of what comes from the sandbox, the number of bytes kept of the beginning and of the end."""
_MOST_BYTES: Final = 2**24
"""The most bytes that a program may write to the runner."""
_WITHOUT: tuple[str, ...] = ()
"""Which of `namespaces`, `landlock` and `seccomp` are not used, as on a kernel that has none of these."""
_TICK_S: Final = 0.1
_END_S: Final = 60.0
"""The time limit for the supervisor to remove what the program left."""
_TRIAL: Final = Job("program", "", 5.0)
_TRIAL_LIMITS: Final = ProgramLimits(wall_s=20.0)
_ENVIRONMENT: Final = {
    "PATH": "/usr/bin:/bin",
    "LANG": "C.UTF-8",
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    # A program whose output depends on the order of a set gives the same twice.
    "PYTHONHASHSEED": "0",
}


def run(job: Job, limits: ProgramLimits, *, unisolated: bool = False) -> ProgramOutcome:
    """Run a job to the end, in a new sandbox.

    Nothing is kept: the same job has the same outcome, as far as the program has.

    Args:
        job: The program.
        limits: Its limits.
        unisolated: Whether to run the program also where it could end or change what is the user's.

    Raises:
        SandboxError: It could not be run.
    """
    seal = token_hex(16)
    payload = {
        **asdict(job),
        **asdict(limits),
        "seal": seal,
        "without": _WITHOUT,
        "unisolated": unisolated,
        "cpu_s": int(limits.wall_s) + 1,
    }
    try:
        process = subprocess.Popen(  # noqa: S603 (our own supervisor, by its path)
            [sys.executable, "-I", str(_SUPERVISOR)],
            cwd="/",
            # Its folder is where `remove_leftovers` looks for it.
            env={**_ENVIRONMENT, "TMPDIR": tempfile.gettempdir()},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
    except OSError as error:
        raise SandboxError(f"no process could be started ({error.strerror})") from error
    try:
        _send(process, json.dumps(payload).encode())
        output = _Output()
        ended = output.read(process, time.monotonic() + limits.wall_s)
    finally:
        _end(process)
    text = output.sealed(seal)
    if ended == "late":
        return ProgramOutcome("timed_out", f"killed after {limits.wall_s:g} s", isolation=text.isolation)
    if ended == "loud":
        return ProgramOutcome("failed", f"wrote more than {_MOST_BYTES:,} bytes", isolation=text.isolation)
    return text.outcome(process.returncode)


@cache
def isolation() -> str:
    """The isolation of programs on this machine: `namespaces`, `landlock` and `seccomp`, joined by `+`.

    Empty where the kernel offers none of them, and only limits hold.

    Raises:
        SandboxError: No program can be run.
    """
    return run(_TRIAL, _TRIAL_LIMITS, unisolated=True).isolation


def require_isolation() -> None:
    """Raise `SandboxError` unless the kernel can isolate programs on this machine."""
    run(_TRIAL, _TRIAL_LIMITS)


def remove_leftovers() -> int:
    """Remove the folders of supervisors that are gone; return how many there were.

    A supervisor removes its own folder. One that was killed, or whose machine lost power, could not.
    """
    removed = 0
    for folder in _leftovers():
        remove(str(folder))
        removed += not folder.exists()
    return removed


def _leftovers() -> Iterator[Path]:
    for folder in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
        supervisor = folder.name.removeprefix(PREFIX).partition("-")[0]
        if not supervisor.isdigit() or folder.is_symlink() or folder.stat().st_uid != os.getuid():
            continue
        try:
            os.kill(int(supervisor), 0)
        except ProcessLookupError:
            yield folder
        except (PermissionError, OverflowError):
            continue


def _send(process: subprocess.Popen[bytes], payload: bytes) -> None:
    """Send the job to the supervisor. The death of a supervisor is noticed when the output is read."""
    assert process.stdin is not None  # noqa: S101 (it is a pipe)
    with suppress(BrokenPipeError):
        process.stdin.write(_LENGTH.pack(len(payload)) + payload)
        process.stdin.flush()


def _end(process: subprocess.Popen[bytes]) -> None:
    """Let the supervisor end the program and exit; do not wait for other holders of the output."""
    assert process.stdout is not None  # noqa: S101 (it is a pipe)
    end_child(process, _END_S)
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.stdout.close()


class _Output:
    """The bounded output of a sandbox."""

    def __init__(self) -> None:
        self._first = b""
        self._last = b""

    def sealed(self, seal: str) -> SealedOutput:
        """The runner's part of the output."""
        return SealedOutput(seal, self._first, self._last)

    def read(self, process: subprocess.Popen[bytes], deadline: float) -> str:
        """Read until the supervisor ends.

        Args:
            process: The supervisor.
            deadline: Of `time.monotonic`.

        Returns:
            `late` at the deadline, `loud` where there is more than may be, else `ended`.
        """
        assert process.stdout is not None  # noqa: S101 (it is a pipe)
        total, pipe = 0, process.stdout.fileno()
        os.set_blocking(pipe, False)
        with selectors.DefaultSelector() as selector:
            selector.register(pipe, selectors.EVENT_READ)
            while True:
                left = deadline - time.monotonic()
                if left <= 0:
                    return "late"
                over = process.poll() is not None
                if not selector.select(0 if over else min(left, _TICK_S)):
                    if over:
                        return "ended"
                    continue
                piece = os.read(pipe, _PIECE)
                if not piece:
                    return self._wait(process, deadline)
                total += len(piece)
                self._first += piece[: max(0, _END_BYTES - len(self._first))]
                self._last = (self._last + piece)[-_END_BYTES:]
                if total > _MOST_BYTES:
                    return "loud"

    @staticmethod
    def _wait(process: subprocess.Popen[bytes], deadline: float) -> str:
        try:
            process.wait(max(0.0, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            return "late"
        return "ended"


def end_child(process: subprocess.Popen[bytes], patience_s: float) -> None:
    """Close the input of a process, which ends the process; kill the process after `patience_s`."""
    assert process.stdin is not None  # noqa: S101 (it is a pipe)
    with suppress(BrokenPipeError):
        process.stdin.close()
    try:
        process.wait(patience_s)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
