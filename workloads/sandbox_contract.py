"""A sandbox: where commands run that no person has read, for as long as an episode or a test takes.

`loadgen.plugins.sandbox.opening.open_sandbox` opens one, as a context manager that leaves nothing behind:

    with open_sandbox(SandboxSpec("docker", image="python:3.12-slim")) as sandbox:
        sandbox.put_files({"main.py": b"print(input())"})
        result = sandbox.exec("python3 main.py", timeout_s=5, stdin=b"hello")

Async code has the same calls, awaited, in `loadgen.plugins.sandbox.opening`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Literal, Self

from lazy_dataclasses import asdict, dataclass, field
from workloads.errors import WorkloadError

if TYPE_CHECKING:
    from collections.abc import Mapping

SandboxKind = Literal["local", "docker", "none"]
"""`local`: isolated processes of this machine; `docker`: a container; `none`: as `local`, but programs
run also where the kernel cannot isolate them."""

DEFAULT_IMAGE: Final = "python:3.12-slim"
"""The image of a container where none was named."""

MIB: Final = 2**20


class SandboxError(WorkloadError):
    """The sandbox itself failed: the program's behaviour is unknown."""


@dataclass(frozen=True, slots=True)
class SandboxLimits:
    """The resource limits of a sandbox.

    Attributes:
        memory_bytes: `docker`: of all processes together, without swap; `local`: of each process, as address
            space.
        cpus: How many cores; only `docker`.
        processes: At once, with their threads.
        disk_bytes: Of the folders that can be written where the root is read-only; they are in memory.
        disk_files: How many files and folders are in them; only `local`.
        output_bytes: Of each stream of a command, the number of bytes kept: half of the beginning and half of
            the end.
        most_output_bytes: A command that writes more than this is killed.
        timeout_s: Of a command that names its own none.
    """

    memory_bytes: int = 2048 * MIB
    cpus: float = 1.0
    processes: int = 256
    disk_bytes: int = 256 * MIB
    disk_files: int = 16_384
    output_bytes: int = MIB
    most_output_bytes: int = 16 * MIB
    timeout_s: float = 60.0


@dataclass(frozen=True, slots=True)
class SandboxSpec:
    """The choice of a sandbox. Plain data: stored in the log, and sent to worker processes.

    Attributes:
        kind: See `SandboxKind`.
        image: Of a container: the name of an image, which is pulled where it is not here; a folder with a
            Dockerfile, or a Dockerfile, which is built; or a root file system as `.tar`, `.tar.gz`, `.tgz`,
            `.tar.xz`, which is imported. Empty for `DEFAULT_IMAGE`; unused by `local`.
        read_only: Whether only the working folder, `/tmp` and `/dev/shm` can be written. `local` always is.
        network: Whether there is a network; never in `local`.
        user: As whom commands run, `UID:GID`; empty for the image's own user, which may be root without any
            of its capabilities. `local` runs them as the user, or as `nobody` where that is root.
        folder: The working folder.
        environment: The variables of commands, beyond those of the image. None of this process's.
        limits: What it may take.
    """

    kind: SandboxKind = "local"
    image: str = ""
    read_only: bool = True
    network: bool = False
    user: str = "65534:65534"
    folder: str = "/work"
    environment: Mapping[str, str] = field(default_factory=dict)
    limits: SandboxLimits = SandboxLimits()

    def to_dict(self) -> dict[str, Any]:
        """The fields as JSON."""
        return asdict(self)

    @classmethod
    def from_dict(cls, facts: Mapping[str, Any]) -> Self:
        """The specification of which `to_dict` has given the facts."""
        return cls(**{**facts, "limits": SandboxLimits(**facts["limits"])})
