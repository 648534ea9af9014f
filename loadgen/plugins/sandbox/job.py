"""A program to run, the limits, and the outcome."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

GIB: Final = 2**30

Ending = Literal["passed", "failed", "timed_out", "out_of_memory", "network", "exited"]
"""How a program ended: `exited` is a program that ended its process before it could be judged."""


@dataclass(frozen=True, slots=True)
class ProgramLimits:
    """The resource limits of a program.

    Attributes:
        wall_s: From its start to its end; whatever is left of it is killed then.
        memory_bytes: Of address space.
        file_bytes: Of a file that it writes.
        files: Open at once.
        disk_bytes: In all files together; only with namespaces.
        disk_files: How many files and folders; likewise.
        processes: With their threads; likewise, and unless the user is root.
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
        outputs: For each test, what must come out, likewise.
    """

    kind: Literal["program", "functional", "standard_input"]
    source: str
    timeout_s: float
    name: str = ""
    inputs: Sequence[str] = ()
    outputs: Sequence[str] = ()

    def to_dict(self) -> Mapping[str, Any]:
        """The fields as JSON."""
        return {
            "kind": self.kind,
            "source": self.source,
            "timeout_s": self.timeout_s,
            "name": self.name,
            "inputs": list(self.inputs),
            "outputs": list(self.outputs),
        }


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
