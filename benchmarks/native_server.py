"""The native server (`native_server.c`): built where there is a C compiler, started, and its truth read."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Final, Self

from cores import on_core

if TYPE_CHECKING:
    from collections.abc import Sequence

    from timed_run import Pace

SOURCE: Final = Path(__file__).with_suffix(".c")
_OPTIONS: Final = ("-O2", "-std=gnu11")
_NS_PER_MS: Final = 1e6
_US_PER_MS: Final = 1000


class MissingServerError(Exception):
    """The native server cannot be built here; the message says why."""


@dataclass(frozen=True, slots=True)
class Served:
    """What the server knows about one request.

    Attributes:
        request_id: Its X-Request-Id; `-` without one.
        received_ns: When its last segment arrived, in ns of CLOCK_MONOTONIC.
        sent_ns: For each token, how many ns later its chunk was handed to the kernel.
    """

    request_id: str
    received_ns: int
    sent_ns: Sequence[int]

    @property
    def ttft_ms(self) -> float:
        """From the request to its first token."""
        return self.sent_ns[0] / _NS_PER_MS

    @property
    def end_ns(self) -> int:
        """When its last token left."""
        return self.received_ns + self.sent_ns[-1]


@cache
def executable(source: Path = SOURCE) -> Path:
    """Build the server, or another program in C, unless this source was built before.

    Returns:
        Its path, in the user's cache folder.

    Raises:
        MissingServerError: This is not Linux, or there is no compiler, or it rejects the source.
    """
    compiler = os.environ.get("CC") or shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    if sys.platform != "linux":
        raise MissingServerError("the native server needs Linux")
    if compiler is None:
        raise MissingServerError("the native server needs a C compiler (cc, or the variable CC)")
    cached = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "llm-loadgen"
    digest = hashlib.sha256(source.read_bytes()).hexdigest()[:16]
    built = cached / f"{source.stem.replace('_', '-')}-{digest}"
    if not built.exists():
        cached.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(dir=cached) as folder:
            command = [compiler, *_OPTIONS, "-o", f"{folder}/server", str(source)]
            try:
                subprocess.run(command, check=True, capture_output=True, text=True)
            except (OSError, subprocess.CalledProcessError) as error:
                reason = getattr(error, "stderr", "") or error
                raise MissingServerError(f"{compiler} cannot build the native server: {reason}") from error
            Path(folder, "server").replace(built)
    return built


class NativeServer:
    """A running server; a context manager that ends it and reads its truth.

    Args:
        core: The core that it is pinned to; None for any.
        pace: Its constant pace.

    Attributes:
        url: Its base URL, without `/v1`.
        pid: Its process id.
        served: The requests that it has finished, in the order of their ends; read when it has ended.

    Raises:
        MissingServerError: It cannot be built here.
    """

    def __init__(self, core: int | None, pace: Pace) -> None:
        self._core, self._pace = core, pace
        self.served: Sequence[Served] = []

    def __enter__(self) -> Self:
        self._folder = TemporaryDirectory(prefix="loadgen-native-")
        self._truth = Path(self._folder.name) / "truth"
        times_us = (round(ms * _US_PER_MS) for ms in (self._pace.ttft_ms, self._pace.gap_ms))
        command = [executable(), self._truth, *times_us, self._pace.tokens]
        with on_core(self._core):
            self._process = subprocess.Popen(list(map(str, command)), stdout=subprocess.PIPE, text=True)
        assert self._process.stdout  # noqa: S101 (it is piped)
        self.url = f"http://127.0.0.1:{self._process.stdout.readline().strip()}"
        self.pid = self._process.pid
        return self

    def __exit__(self, *_: object) -> None:
        self._process.terminate()
        self._process.communicate()
        if self._truth.exists():
            lines = self._truth.read_text().splitlines()
            self.served = [
                Served(request_id, int(received_ns), [int(sent_ns) for sent_ns in sent])
                for request_id, received_ns, *sent in map(str.split, lines)
            ]
        self._folder.cleanup()
