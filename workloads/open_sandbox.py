"""An open sandbox: commands, the results, and files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, Protocol, Self

from lazy_dataclasses import dataclass

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


CommandEnding = Literal["exited", "timed_out", "out_of_memory", "too_much_output"]
"""How a command ended: by itself or by a signal, or because the sandbox ended it."""


@dataclass(frozen=True, slots=True)
class CommandResult:
    """How a command ended.

    Attributes:
        exit_code: 128 + the number of the signal that ended it, as a shell says it; None where the sandbox
            ended it.
        stdout: What it wrote, decoded as UTF-8 with replacement characters; the middle of what is longer than
            `SandboxLimits.output_bytes` is left out, and a line says how much.
        stderr: As above.
        ending: See `CommandEnding`.
        seconds: From its start to its end.
    """

    exit_code: int | None
    stdout: str
    stderr: str
    ending: CommandEnding
    seconds: float

    @property
    def ok(self) -> bool:
        """Whether the command ended normally, with exit code 0."""
        return self.exit_code == 0


class Sandbox(Protocol):
    """One isolated place: files and processes of a command remain for the next command.

    Calls come one at a time. Whatever runs and whatever was written is gone after `close`.
    """

    @property
    def isolation(self) -> str:
        """The isolation mechanisms, for the log: `docker`, `namespaces+landlock`."""

    def exec(
        self, command: str | Sequence[str], timeout_s: float | None = None, stdin: bytes = b""
    ) -> CommandResult:
        """Run a command to the end. After the time limit, all processes of the sandbox are killed.

        Args:
            command: A line for `/bin/sh`, or a program and its arguments.
            timeout_s: From its start to its end; None for that of the limits.
            stdin: What it reads; then the end of the file.

        Raises:
            SandboxError: It could not be run, or the sandbox is gone.
        """

    def put_files(self, files: Mapping[str, bytes]) -> None:
        """Write files, creating missing folders.

        Args:
            files: Contents by path; a path that is not absolute is in the working folder.

        Raises:
            SandboxError: They could not be written.
        """

    def get_file(self, path: str) -> bytes:
        """Read a file of at most `SandboxLimits.most_output_bytes`.

        Args:
            path: Absolute, or in the working folder. Links are followed inside the sandbox.

        Raises:
            FileNotFoundError: It is not there, or is not a file that can be read.
            SandboxError: It is larger, or the sandbox is gone.
        """

    def close(self) -> None:
        """End all processes of the sandbox, and remove the sandbox. A second call has no effect.

        It may come from another thread while a command runs, which then raises `SandboxError`.
        """

    def __enter__(self) -> Self:
        """Return the sandbox."""

    def __exit__(self, *_: object) -> None:
        """Close the sandbox."""
