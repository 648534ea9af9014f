"""Programs in a container: reused for the next program as long as each program leaves nothing behind.

A container takes some 0.7 s to start and a command in it 0.1 s, so containers are used again. This is safe:
the root cannot be written, and a container is removed

- after a program that was killed, for its time, its memory or its output;
- after a program where the daemon, which is outside, sees any process but the first ones;
- before the next program, if the folders that can be written cannot be emptied, or shared memory is left.
"""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from pathlib import Path
from secrets import token_hex
from typing import TYPE_CHECKING, Any, Final

from loadgen.plugins.sandbox.container import KILLED, DockerSandbox
from loadgen.plugins.sandbox.job import ProgramOutcome, SealedOutput
from workloads.sandbox_contract import SandboxError

if TYPE_CHECKING:
    from loadgen.plugins.sandbox.commands import RawResult
    from loadgen.plugins.sandbox.job import Job, ProgramLimits
    from workloads.open_sandbox import CommandEnding
    from workloads.sandbox_contract import SandboxSpec

_START: Final = Path(__file__).with_name("container_start.py")
_RUNNER: Final = Path(__file__).with_name("program_runner.py")
_TRIES: Final = 2
_SIGNALS: Final = 128
_FOLDERS: Final = ("/tmp", "/dev/shm", "/dev/mqueue")  # noqa: S108 (of the container)


class UncleanError(Exception):
    """A container has something of an earlier program."""


class ContainerPrograms:
    """Runs programs in containers, one at a time; a context manager that removes the last container."""

    def __init__(self, spec: SandboxSpec) -> None:
        self._spec = replace(spec, read_only=True, network=False)
        self._sandbox: DockerSandbox | None = None
        self._command = ["python3", "-I", "-c", *(path.read_text("utf-8") for path in (_START, _RUNNER))]

    def run(self, job: Job, limits: ProgramLimits) -> ProgramOutcome:
        """Run a job to the end; see `loadgen.plugins.sandbox.local.run`."""
        for _ in range(_TRIES):
            sandbox = self._sandbox = self._sandbox or DockerSandbox(self._spec)
            try:
                return self._run(sandbox, job, limits)
            except UncleanError:
                self.close()
        raise SandboxError("a new container is not empty")

    def close(self) -> None:
        """Remove the container."""
        sandbox, self._sandbox = self._sandbox, None
        if sandbox is not None:
            sandbox.close()

    def _run(self, sandbox: DockerSandbox, job: Job, limits: ProgramLimits) -> ProgramOutcome:
        seal = token_hex(16)
        stdin = json.dumps(self._payload(job, limits, seal)).encode()
        try:
            result = sandbox.attempt(self._command, limits.wall_s, stdin, self._spec.limits.output_bytes)
            output = SealedOutput(seal, result.stdout, result.stdout)
            _require_clean(output)
            ending = result.ending
            # The runner kills itself when it has said how the program ended.
            if result.exit_code == KILLED and not output.has_verdict and sandbox.ran_out_of_memory():
                ending = "out_of_memory"
            if ending != "exited" or not sandbox.is_idle():
                self.close()
        except BaseException:
            self.close()
            raise
        return self._outcome(ending, result, output, limits)

    def _payload(self, job: Job, limits: ProgramLimits, seal: str) -> dict[str, Any]:
        return {
            **asdict(job),
            **asdict(limits),
            "seal": seal,
            "isolation": "docker",
            "folder": self._spec.folder,
            "folders": [self._spec.folder, *_FOLDERS],
            "memory_bytes": min(limits.memory_bytes, self._spec.limits.memory_bytes),
            # The container's own limit holds: users are counted on the whole machine.
            "own_users": False,
            "cpu_s": int(limits.wall_s) + 1,
        }

    def _outcome(
        self, ending: CommandEnding, result: RawResult, output: SealedOutput, limits: ProgramLimits
    ) -> ProgramOutcome:
        sizes = self._spec.limits
        match ending:
            case "timed_out":
                reason = f"killed after {limits.wall_s:g} s"
                return ProgramOutcome("timed_out", reason, isolation=output.isolation)
            case "out_of_memory":
                reason = f"more memory than the {sizes.memory_bytes:,} bytes of the container"
                return ProgramOutcome("out_of_memory", reason, isolation=output.isolation)
            case "too_much_output":
                reason = f"wrote more than {sizes.most_output_bytes:,} bytes"
                return ProgramOutcome("failed", reason, isolation=output.isolation)
        code = result.exit_code or 0
        if not output.isolation:
            line = result.stderr.decode(errors="replace").strip().rpartition("\n")[2]
            raise SandboxError(
                f"the program could not be started with the image's python3 (exit code {code}): {line}"
            )
        return output.outcome(_SIGNALS - code if code > _SIGNALS else code)


def _require_clean(output: SealedOutput) -> None:
    if output.unclean:
        raise UncleanError
