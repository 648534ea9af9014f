"""A program to run, the limits, and the outcome, read from the output of the program's runner."""

from __future__ import annotations

import json
import signal
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final, Literal

from lazy_dataclasses import dataclass
from workloads.sandbox_contract import SandboxError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

GIB: Final = 2**30

Ending = Literal["passed", "failed", "timed_out", "out_of_memory", "network", "exited"]
"""How a program ended: `exited` is a program that ended its process before it could be judged."""

_LONGEST: Final = 300


@dataclass(frozen=True, slots=True)
class ProgramLimits:
    """The resource limits of a program.

    Attributes:
        wall_s: From its start to its end; whatever is left of it is killed then.
        memory_bytes: Of address space.
        file_bytes: Of a file that it writes.
        files: Open at once.
        disk_bytes: In all files together; only with namespaces.
        disk_files: How many files and folders; as above.
        processes: With their threads; as above, and unless the user is root.
    """

    wall_s: float
    memory_bytes: int = 4 * GIB
    file_bytes: int = 2**24
    files: int = 64
    disk_bytes: int = 2**26
    disk_files: int = 4096
    processes: int = 256


@dataclass(frozen=True, slots=True)
class Job:
    """A program and the method of judging.

    Attributes:
        kind: `program`: it passes when it runs to its end; `functional`: calls of a function of it give what
            they should; `standard_input`: what it prints for an input is what it should.
        source: The Python source.
        timeout_s: For the program, or for each test.
        name: The function, where one is called.
        inputs: For each test, what goes in: text, or for a function a JSON value a line, one an argument.
        outputs: For each test, what must come out, as above.
    """

    kind: Literal["program", "functional", "standard_input"]
    source: str
    timeout_s: float
    name: str = ""
    inputs: Sequence[str] = ()
    outputs: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class ProgramOutcome:
    """The outcome of a program.

    Attributes:
        reason: What went wrong, in a few words; empty where it passed.
        passed: How many tests it passed before the first that it did not.
        isolation: What isolated it; see `loadgen.plugins.sandbox.local.isolation`.
    """

    ending: Ending
    reason: str = ""
    passed: int = 0
    isolation: str = ""


@dataclass(frozen=True, slots=True)
class SealedOutput:
    """The output of a runner, or a part of the output.

    Attributes:
        last: The end of it; may be the same bytes.
    """

    seal: str
    first: bytes
    last: bytes

    @property
    def isolation(self) -> str:
        """The isolation of the program, as reported by the runner at the start."""
        return str(next(self._lines(self.first), {}).get("isolation", ""))

    @property
    def unclean(self) -> str:
        """The leftovers of an earlier program; empty without any."""
        return str(next(self._lines(self.first), {}).get("unclean", ""))

    @property
    def has_verdict(self) -> bool:
        """Whether the runner has said how the program ended."""
        return any("ending" in message for message in self._lines(self.last))

    def outcome(self, code: int) -> ProgramOutcome:
        """The outcome of the program; without a verdict the program ended the whole process.

        Args:
            code: The exit code of the process; negative for a signal.

        Raises:
            SandboxError: It has never begun.
        """
        begun = next(self._lines(self.first), None)
        if begun is None:
            raise SandboxError(f"the program could not be started (its process ended with {code})")
        verdict = next(reversed([message for message in self._lines(self.last) if "ending" in message]), None)
        if verdict is not None:
            if verdict["ending"] == "broken":
                raise SandboxError(verdict["reason"])
            reason, passed = str(verdict["reason"])[:_LONGEST], verdict["passed"]
            return ProgramOutcome(verdict["ending"], reason, passed, self.isolation)
        if code == -signal.SIGXCPU:
            return ProgramOutcome("timed_out", "used up its CPU time", isolation=self.isolation)
        how = f"by {signal.Signals(-code).name}" if code < 0 else f"with exit code {code}"
        reason = f"the process ended {how} before the tests did"
        return ProgramOutcome("exited", reason, isolation=self.isolation)

    def _lines(self, data: bytes) -> Iterator[dict[str, Any]]:
        for line in data.decode(errors="replace").splitlines():
            if line.startswith(self.seal):
                with suppress(ValueError):
                    message = json.loads(line.removeprefix(self.seal))
                    if isinstance(message, dict):
                        yield message
