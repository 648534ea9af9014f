"""A mock endpoint as a child process, for tests, demonstrations and calibration."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import time
import weakref
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from select import select
from typing import TYPE_CHECKING, Any, Final

from loadgen.driver.system.child_process import start_child
from loadgen.driver.system.signals import deferred
from loadgen.mock_endpoint.errors import MockSetupError
from loadgen.mock_endpoint.options import KEY_VARIABLE, LISTENING, MockOptions
from loadgen.mock_endpoint.punctuality import Punctuality
from loadgen.mock_endpoint.truth import read

if TYPE_CHECKING:
    from types import TracebackType
    from typing import Self

    from loadgen.mock_endpoint.truth import Truth

_START_TIMEOUT_S: Final = 30.0
_TIMEOUT_S: Final = 10.0
_LOOK_AGAIN_S: Final = 0.005


def start_mock(**options: Any) -> MockProcess:
    """Start a mock endpoint and wait until the server listens.

    It takes a free port unless one is named, and ends with this process however this process ends.

        with start_mock(ttft="20ms", itl="5ms", tokens="32") as mock:
            ...  # talk to mock.url
        records = mock.truth()

    Args:
        **options: The fields of `MockOptions`.

    Raises:
        MockOptionsError: A number is out of its range.
        MockSetupError: It did not start; the message is the child's.
    """
    return MockProcess(MockOptions(**{"port": 0, "exit_with_parent": True, **options}))


class MockProcess:
    """A running mock endpoint. The context manager stops the process.

    Attributes:
        url: Its base URL, with `/v1`.
        pid: Its process id.
    """

    def __init__(self, options: MockOptions) -> None:
        with ExitStack() as undo:
            with deferred():
                folder = Path(tempfile.mkdtemp(prefix="loadgen-mock-"))
                self._tidy = weakref.finalize(self, _remove, folder)
                undo.callback(self._tidy)
            self._truth = Path(options.truth or folder / "truth.jsonl").absolute()
            self._errors = folder / "errors.txt"
            with self._errors.open("wb") as errors:
                self._process = start_child(
                    "loadgen.mock_endpoint",
                    replace(options, truth=self._truth, api_key=None).to_json(),
                    environment=os.environ | {KEY_VARIABLE: options.api_key or ""},
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=errors,
                    start_new_session=True,  # a Ctrl-C for who measures must not end what is measured
                )
            self._last_words = b""
            self.pid = self._process.pid
            self.url = self._listening()
            undo.pop_all()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            self.stop()
        finally:
            # The truth is read afterwards, except on an error, after which this process may end at once.
            if error is not None:
                self._tidy()

    def truth(self, requests: int = 0) -> list[Truth]:
        """The truths reported by the server so far; also after the stop.

        Args:
            requests: Wait until this many requests have ended: a client knows the end of an answer a moment
                before the server has written it down.

        Raises:
            TimeoutError: They have not ended within 10 s.
        """
        give_up_at = time.monotonic() + _TIMEOUT_S
        while len(truths := read(self._truth)) < requests:
            if time.monotonic() > give_up_at:
                raise TimeoutError(f"{len(truths)} of {requests} requests have ended in the mock endpoint")
            time.sleep(_LOOK_AGAIN_S)
        return truths

    def punctuality(self) -> Punctuality:
        """The lateness of the server's chunks, from start to end.

        Raises:
            ValueError: It was not stopped yet, plays a scenario, or did not end in order.
        """
        if not self._last_words:
            raise ValueError(
                "only a mock endpoint without a scenario that was stopped in order knows how punctual it was"
            )
        return Punctuality.from_json(self._last_words)

    def stop(self) -> int:
        """Stop the server, cutting off open streams. Stopping twice is harmless.

        Returns:
            Its exit code, 0 for an orderly end.
        """
        if self._process.returncode is None:
            self._process.terminate()
            try:
                self._last_words, _ = self._process.communicate(timeout=_TIMEOUT_S)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.communicate()
        return self._process.returncode

    def _listening(self) -> str:
        """Wait for the line with the listening address, or for the end of the process."""
        line = ""
        if self._process.stdout and select([self._process.stdout], [], [], _START_TIMEOUT_S)[0]:
            line = self._process.stdout.readline().decode()
        if line.startswith(LISTENING):
            return line.removeprefix(LISTENING).strip()
        self._process.kill()
        self._process.communicate()
        why = self._errors.read_text().strip() or f"exit code {self._process.returncode}"
        raise MockSetupError(f"the mock endpoint did not start: {why}")


def _remove(folder: Path) -> None:
    """Remove a folder whole: no exception gets out of where this is called."""
    with deferred():
        shutil.rmtree(folder, ignore_errors=True)
