"""A process of this machine as a sandbox: the kernel's limits, no network, an empty folder, no environment.

It is a seat belt, not a wall: the program may read what its user may read. Only where that is allowed
(`--allow-code-execution`) does anything run here.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from secrets import token_hex
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Final

from workloads.sandbox.job import Outcome, SandboxError

if TYPE_CHECKING:
    from workloads.sandbox.job import Job, Limits

_HARNESS: Final = Path(__file__).with_name("harness.py")
_LONGEST: Final = 300
_ENVIRONMENT: Final = {
    "PATH": "/usr/bin:/bin",
    "LANG": "C.UTF-8",
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    # A program whose output depends on the order of a set gives the same twice.
    "PYTHONHASHSEED": "0",
}


def run(job: Job, limits: Limits) -> Outcome:
    """Run a job to its end, in a process of its own.

    Nothing is kept: the same job has the same outcome, as far as the program has.

    Raises:
        SandboxError: It could not be run.
    """
    seal = token_hex(16)
    told = {
        **job.to_dict(),
        "seal": seal,
        "memory_bytes": limits.memory_bytes,
        "file_bytes": limits.file_bytes,
        "files": limits.files,
        "cpu_s": int(limits.wall_s) + 1,
    }
    with TemporaryDirectory(prefix="loadgen-sandbox-") as folder:
        try:
            process = subprocess.Popen(  # noqa: S603 (our own harness, by its path)
                [sys.executable, "-I", str(_HARNESS)],
                cwd=folder,
                env=_ENVIRONMENT,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )
        except OSError as error:
            raise SandboxError(f"no process could be started ({error.strerror})") from error
        try:
            said, _ = process.communicate(json.dumps(told).encode(), timeout=limits.wall_s)
        except subprocess.TimeoutExpired:
            return Outcome("timed_out", f"killed after {limits.wall_s:g} s")
        finally:
            _end(process)
    return _read(said, seal, process.returncode)


def _end(process: subprocess.Popen[bytes]) -> None:
    """Leave nobody of the program's process group behind."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.communicate()


def _read(said: bytes, seal: str, code: int) -> Outcome:
    """What the harness said last, under its seal; without that the program ended its process."""
    for line in reversed(said.decode(errors="replace").splitlines()):
        if line.startswith(seal):
            told: dict[str, Any] = json.loads(line.removeprefix(seal))
            if told["ending"] == "broken":
                raise SandboxError(told["reason"])
            return Outcome(told["ending"], told["reason"][:_LONGEST], told["passed"])
    if code == -signal.SIGXCPU:
        return Outcome("timed_out", "used up its CPU time")
    how = f"by {signal.Signals(-code).name}" if code < 0 else f"with exit code {code}"
    return Outcome("exited", f"the process ended {how} before the tests did")
