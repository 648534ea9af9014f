"""The scores of a run while it runs, from the process `loadgen.sessions.scoring.score_reader`."""

from __future__ import annotations

import os
import threading
from contextlib import suppress
from typing import TYPE_CHECKING, Self

from recorder.errors import LogError

if TYPE_CHECKING:
    import subprocess
    from pathlib import Path


class RunningScore:
    """The scores of the tasks of a run, as far as answers have come; a context manager that reads them."""

    def __init__(self, log: Path | None) -> None:
        self._log = log
        self._scores: dict[str, tuple[int, float]] = {}
        self._process: subprocess.Popen[bytes] | None = None
        self._thread = threading.Thread(target=self._read, name="running-score", daemon=True)

    def __enter__(self) -> Self:
        with suppress(OSError, LogError):
            if self._log is not None and tasks_of(self._log):
                self._process = _started(self._log)
        if self._process is not None:
            self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._process is not None:
            self._process.kill()
            self._thread.join()
            with self._process:
                pass  # its pipes are closed

    @property
    def text(self) -> str:
        """The scores in words; empty before the first."""
        return ", ".join(
            f"{task} {mean:.3f} of {count:,}" for task, (count, mean) in self._scores.items() if count
        )

    def lines(self, columns: int) -> list[tuple[str]]:
        """The scores as a line of a block on a terminal; none before the first."""
        return [(f"accuracy     {self.text} so far"[: columns - 1],)] if self.text else []

    def _read(self) -> None:
        import orjson

        assert self._process is not None  # noqa: S101 (the thread starts after it)
        for line in self._process.stdout or ():
            with suppress(ValueError):  # the last line of a process that is killed
                self._scores = orjson.loads(line)


def tasks_of(log: Path) -> list[str]:
    """The benchmarks that a run asks."""
    from reporter.log.settings import settings

    tasks = (settings(log).get("accuracy") or {}).get("tasks") or ()
    return [str(task["task"]) for task in tasks]


def _started(log: Path) -> subprocess.Popen[bytes]:
    """The process, shielded from Ctrl-C; no secret is passed on."""
    import subprocess

    from loadgen.driver.client.redaction import VARIABLES
    from loadgen.driver.system.child_process import start_child

    environment = {name: value for name, value in os.environ.items() if name not in VARIABLES}
    return start_child(
        "loadgen.sessions.scoring.score_reader",
        str(log),
        environment=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
