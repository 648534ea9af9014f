"""One command in a container: the streams, over one connection to the daemon."""

from __future__ import annotations

import struct
import threading
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

from loadgen.plugins.sandbox.bounded_output import BoundedOutput
from loadgen.plugins.sandbox.commands import SHELL, RawResult
from loadgen.plugins.sandbox.docker_daemon import close_stream, socket_of
from workloads.sandbox_contract import SandboxError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from workloads.open_sandbox import CommandEnding

# Until it has a line it writes nothing, so that no output comes before this side reads the connection.
_AT_A_LINE: Final = 'read -r _; exec "$0" "$@"'
_HEADER: Final = struct.Struct(">BxxxL")
"""Of a frame: the number of the stream, and the length of what follows."""
_STDERR: Final = 2
_PIECE: Final = 2**16
_TICK_S: Final = 0.1
_POLL_S: Final = 0.5
_DRAIN_S: Final = 0.2
"""How long output is awaited of those who hold a stream although the command has ended."""


class ContainerCommand:
    """A command that waits to be fed."""

    def __init__(
        self,
        client: Any,
        container: str,
        command: Sequence[str],
        *,
        user: str,
        environment: Mapping[str, str],
        folder: str,
    ) -> None:
        self._client = client
        self._id = client.exec_create(
            container,
            [SHELL, "-c", _AT_A_LINE, *command],
            stdin=True,
            user=user,
            environment=dict(environment),
            workdir=folder,
        )["Id"]
        self._stream = client.exec_start(self._id, socket=True)
        self._socket = socket_of(self._stream)
        self._rest = b""

    def result(self, stdin: bytes, timeout_s: float, output_bytes: int, most_bytes: int) -> RawResult:
        """Feed the command, and read the output to the end; a command that does not end keeps running."""
        since = time.monotonic()
        output, errors = BoundedOutput(output_bytes), BoundedOutput(output_bytes)
        feeder = threading.Thread(target=self._feed, args=(b"\n" + stdin,), daemon=True)
        feeder.start()
        try:
            ending = self._read(output, errors, since + timeout_s, most_bytes)
        finally:
            # A feeder that waits is woken by it.
            with suppress(OSError):
                self._socket.shutdown(2)
            feeder.join()
            close_stream(self._stream)
        seconds = time.monotonic() - since
        code = self._exit_code(errors) if ending == "exited" else None
        return RawResult(code, output.content, errors.content, ending, seconds, output.total)

    def _feed(self, data: bytes) -> None:
        with suppress(OSError):
            self._socket.settimeout(None)
            self._socket.sendall(data)
            self._socket.shutdown(1)

    def _read(
        self, output: BoundedOutput, errors: BoundedOutput, deadline: float, most_bytes: int
    ) -> CommandEnding:
        quiet_since = time.monotonic()
        over = False
        while True:
            now = time.monotonic()
            if now >= deadline:
                return "exited" if over else "timed_out"
            self._socket.settimeout(min(_TICK_S, deadline - now))
            try:
                piece = self._socket.recv(_PIECE)
            except TimeoutError:
                if not over and now - quiet_since > _POLL_S:
                    quiet_since = now
                    over = not self._client.exec_inspect(self._id)["Running"]
                    deadline = min(deadline, now + _DRAIN_S) if over else deadline
                continue
            if not piece:
                return "exited"
            for number, data in self._frames(piece):
                (errors if number == _STDERR else output).add(data)
            if max(output.total, errors.total) > most_bytes:
                return "too_much_output"

    def _frames(self, piece: bytes) -> list[tuple[int, bytes]]:
        """The frames that are whole now."""
        frames, data, place = [], self._rest + piece, 0
        while len(data) - place >= _HEADER.size:
            number, length = _HEADER.unpack_from(data, place)
            end = place + _HEADER.size + length
            if len(data) < end:
                break
            frames.append((number, data[place + _HEADER.size : end]))
            place = end
        self._rest = data[place:]
        return frames

    def _exit_code(self, errors: BoundedOutput) -> int:
        """The exit code, which the daemon may have a moment after the end of the streams."""
        give_up = time.monotonic() + 10
        while time.monotonic() < give_up:
            facts = self._client.exec_inspect(self._id)
            if not facts["Running"] and facts["ExitCode"] is not None:
                return int(facts["ExitCode"])
            time.sleep(0.01)
        text = errors.content.decode(errors="replace")[:200]
        raise SandboxError(f"the daemon does not say how a command ended {text}")
