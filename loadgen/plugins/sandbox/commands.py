"""The common part of both kinds of sandboxes: text and files, by commands."""

from __future__ import annotations

import io
import tarfile
from abc import ABC, abstractmethod
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Final, Self

from lazy_dataclasses import dataclass
from workloads.open_sandbox import CommandResult
from workloads.sandbox_contract import SandboxError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from workloads.open_sandbox import CommandEnding
    from workloads.sandbox_contract import SandboxLimits

SHELL: Final = "/bin/sh"
_FILES_S: Final = 120.0
"""The most that writing or reading files may take."""
_LONGEST_REASON: Final = 300


@dataclass(frozen=True, slots=True)
class RawResult:
    """A `CommandResult` with streams as bytes."""

    exit_code: int | None
    stdout: bytes
    stderr: bytes
    ending: CommandEnding
    seconds: float
    total_stdout: int


class CommandSandbox(ABC):
    """A sandbox that can run a command: the rest of `workloads.open_sandbox.Sandbox` follows."""

    def __init__(self, folder: str, limits: SandboxLimits) -> None:
        self._folder = PurePosixPath(folder)
        self._limits = limits

    @abstractmethod
    def _run(self, command: Sequence[str], timeout_s: float, stdin: bytes, output_bytes: int) -> RawResult:
        """Run a program with arguments; keep a number of bytes of each stream."""

    @abstractmethod
    def close(self) -> None:
        """See `Sandbox.close`."""

    def exec(
        self, command: str | Sequence[str], timeout_s: float | None = None, stdin: bytes = b""
    ) -> CommandResult:
        """See `Sandbox.exec`."""
        arguments = [SHELL, "-c", command] if isinstance(command, str) else list(command)
        limit_s = self._limits.timeout_s if timeout_s is None else timeout_s
        raw = self._run(arguments, limit_s, stdin, self._limits.output_bytes)
        return CommandResult(
            raw.exit_code,
            raw.stdout.decode(errors="replace"),
            raw.stderr.decode(errors="replace"),
            raw.ending,
            raw.seconds,
        )

    def put_files(self, files: Mapping[str, bytes]) -> None:
        """See `Sandbox.put_files`."""
        archive = io.BytesIO()
        with tarfile.open(fileobj=archive, mode="w") as tar:
            for path, content in files.items():
                member = tarfile.TarInfo(str(self._folder / path).lstrip("/"))
                member.size = len(content)
                member.mode = 0o755 if content.startswith(b"#!") else 0o644
                tar.addfile(member, io.BytesIO(content))
        # Unpacked in the sandbox, as its user: a link there can lead nowhere else.
        raw = self._run(["tar", "-C", "/", "-o", "-xf", "-"], _FILES_S, archive.getvalue(), 2**14)
        if raw.exit_code != 0:
            raise SandboxError(f"files could not be written in the sandbox: {_reason(raw)}")

    def get_file(self, path: str) -> bytes:
        """See `Sandbox.get_file`."""
        limit = self._limits.most_output_bytes
        whole = str(self._folder / path)
        raw = self._run([SHELL, "-c", 'test -f "$0" && cat < "$0"', whole], _FILES_S, b"", 2 * limit)
        if raw.ending == "too_much_output" or raw.total_stdout > limit:
            raise SandboxError(f"{path}: the file has more than {limit:,} bytes")
        if raw.exit_code != 0:
            raise FileNotFoundError(f"{path}: the sandbox has no such file")
        return raw.stdout

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _reason(raw: RawResult) -> str:
    text = " ".join(raw.stderr.decode(errors="replace").split())
    return text[:_LONGEST_REASON] or f"{raw.ending}, exit code {raw.exit_code}"
