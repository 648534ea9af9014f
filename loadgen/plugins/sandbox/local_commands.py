"""Commands on this machine, in separate namespaces: the sandbox without Docker.

See `command_server.py` for what isolates them, and docs/sandbox.md for what that is worth.
"""

from __future__ import annotations

import json
import selectors
import subprocess
import sys
import time
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from loadgen.plugins.sandbox.command_server import LENGTH
from loadgen.plugins.sandbox.commands import CommandSandbox, RawResult
from loadgen.plugins.sandbox.local import end_child
from workloads.sandbox_contract import SandboxError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from workloads.sandbox_contract import SandboxSpec

_SERVER: Final = Path(__file__).with_name("command_server.py")
_PATIENCE_S: Final = 30.0
"""What the server may take beyond the time of a command, on a machine with other work to do."""
_PIECE: Final = 2**16
_WITHOUT_NAMESPACES: Final = "; enable unprivileged user namespaces, or use containers (--sandbox docker)"


class LocalSandbox(CommandSandbox):
    """Namespaces of this machine, or `SandboxError`; see `workloads.open_sandbox.Sandbox`."""

    def __init__(self, spec: SandboxSpec) -> None:
        super().__init__(spec.folder, spec.limits)
        if not sys.platform.startswith("linux"):
            raise SandboxError("commands are run on this system in containers only: use --sandbox docker")
        try:
            self._server: subprocess.Popen[bytes] | None = subprocess.Popen(  # noqa: S603 (our own, by its path)
                [sys.executable, "-I", str(_SERVER)],
                cwd="/",
                env={},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                bufsize=0,
                start_new_session=True,
            )
        except OSError as error:
            raise SandboxError(f"no process could be started ({error.strerror})") from error
        try:
            self._send({**asdict(spec.limits), "folder": spec.folder, "environment": _environment(spec)})
            self._receive(time.monotonic() + _PATIENCE_S)
        except BaseException as error:
            self.close()
            if isinstance(error, SandboxError):
                raise SandboxError(f"no sandbox on this machine: {error}{_WITHOUT_NAMESPACES}") from error
            raise

    @property
    def isolation(self) -> str:
        """The isolation mechanisms."""
        return "namespaces"

    def close(self) -> None:
        """End the namespaces: the kernel ends and removes the contents."""
        server, self._server = self._server, None
        if server is None:
            return
        assert server.stdout is not None  # noqa: S101 (it is a pipe)
        end_child(server, _PATIENCE_S)
        server.stdout.close()

    def _run(self, command: Sequence[str], timeout_s: float, stdin: bytes, output_bytes: int) -> RawResult:
        request = {"command": list(command), "timeout_s": timeout_s, "output_bytes": output_bytes}
        self._send(request, stdin)
        payload, streams = self._receive(time.monotonic() + timeout_s + _PATIENCE_S)
        size = payload["stdout_size"]
        return RawResult(
            payload["exit_code"],
            streams[:size],
            streams[size:],
            payload["ending"],
            payload["seconds"],
            payload["stdout_total"],
        )

    def _send(self, payload: dict[str, Any], more: bytes = b"") -> None:
        server = self._running()
        assert server.stdin is not None  # noqa: S101 (it is a pipe)
        text = json.dumps(payload).encode()
        data = memoryview(LENGTH.pack(len(text), len(more)) + text + more)
        try:
            while data:
                data = data[server.stdin.write(data) :]
        except (BrokenPipeError, ValueError) as error:
            raise SandboxError("the sandbox has ended") from error

    def _receive(self, deadline: float) -> tuple[dict[str, Any], bytes]:
        server = self._running()
        size, more = LENGTH.unpack(self._read(server, LENGTH.size, deadline))
        payload: dict[str, Any] = json.loads(self._read(server, size, deadline))
        if "error" in payload:
            raise SandboxError(payload["error"])
        return payload, self._read(server, more, deadline)

    def _running(self) -> subprocess.Popen[bytes]:
        if self._server is None:
            raise SandboxError("the sandbox is closed")
        return self._server

    def _read(self, server: subprocess.Popen[bytes], size: int, deadline: float) -> bytes:
        """Exactly `size` bytes from the server; after a timeout or the server's end, the server is closed."""
        assert server.stdout is not None  # noqa: S101 (it is a pipe)
        data = bytearray()
        with selectors.DefaultSelector() as selector:
            try:
                selector.register(server.stdout, selectors.EVENT_READ)
                while len(data) < size:
                    ready = selector.select(max(0.0, deadline - time.monotonic()))
                    piece = server.stdout.read(min(_PIECE, size - len(data))) if ready else b""
                    if not piece:
                        break
                    data += piece
            except ValueError:  # closed by another thread
                data.clear()
        if len(data) < size:
            server.kill()
            self.close()
            raise SandboxError("the sandbox has ended, or does not answer")
        return bytes(data)


def _environment(spec: SandboxSpec) -> dict[str, str]:
    return {
        "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
        "HOME": spec.folder,
        "LANG": "C.UTF-8",
        **spec.environment,
    }
