"""A run that is watched from outside: the events of its log, its workers, its end."""

from __future__ import annotations

import sqlite3
import subprocess
import time
from collections import Counter
from contextlib import closing, suppress
from typing import TYPE_CHECKING, Any

import orjson
import pytest

from loadgen.driver.workers.launcher import PROCESS_NAME
from recorder.event import Event, EventType
from tests.processes import is_gone

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

GIVE_UP_S = 600.0
"""Far more than anything here takes."""


def events_of(log: Path) -> list[Event]:
    """The events of a log in the order of writing; none before the log exists."""
    return [
        Event(EventType(code), at_ns, uuid, orjson.loads(data) if data else {})
        for code, at_ns, uuid, data in _rows(
            log, "SELECT code, at_ns, sample_uuid, data FROM events ORDER BY seq"
        )
    ]


def _rows(log: Path, query: str) -> list[Any]:
    if log.exists():
        with closing(sqlite3.connect(log)) as connection, suppress(sqlite3.OperationalError):
            return connection.execute(query).fetchall()
    return []


class WatchedRun:
    """A `loadgen perf` that is under way.

    Attributes:
        process: Its process, which leads its own group.
        log: Its log.
    """

    def __init__(self, process: subprocess.Popen[str], log: Path) -> None:
        self.process = process
        self.log = log

    def events(self) -> list[Event]:
        """The events of the log, as they were written; none where there is no log yet."""
        return events_of(self.log)

    def count(self, kind: EventType) -> int:
        """The number of events of a type in the log."""
        rows = _rows(self.log, f"SELECT count(*) FROM events WHERE code = {kind.value}")  # noqa: S608 (a number)
        return int(rows[0][0]) if rows else 0

    def wait_for(self, kind: EventType, times: int = 1) -> None:
        """Wait until the log has an event as many times as this."""
        self.wait_until(lambda: self.count(kind) >= times, kind.name)

    def wait_until(self, happened: Callable[[], bool], what: str) -> None:
        """Wait until something has happened, while the run goes on."""
        give_up = time.monotonic() + GIVE_UP_S
        while not happened():
            assert time.monotonic() < give_up, f"{what}; {self._state()}"
            time.sleep(0.01)

    def _state(self) -> str:
        """What it has done so far, for the message of a test that waits in vain."""
        events = dict(Counter(event.type.name for event in self.events()))
        if self.process.poll() is None:
            return f"it runs, with workers {self.workers()} and events {events}"
        _, err = self.process.communicate(timeout=GIVE_UP_S)
        return f"it has ended with exit code {self.process.returncode}, events {events} and {err!r}"

    def workers(self) -> list[int]:
        """Its worker processes. `-ww`: arguments are not cut to the width of a terminal."""
        listed = subprocess.run(
            ["ps", "-A", "-ww", "-o", "pid=,ppid=,comm=,args="],  # noqa: S607 (wherever it is)
            capture_output=True,
            text=True,
            check=True,
        ).stdout.splitlines()
        rows = [line.split(maxsplit=2) for line in listed]
        mine = [row for row in rows if int(row[1]) == self.process.pid]
        names = (PROCESS_NAME, "loadgen.driver.workers.worker_process")
        return [int(pid) for pid, _, what in mine if any(name in what for name in names)]

    def signal(self, *numbers: int) -> None:
        """Send signals to the parent alone, each when the one before was heard."""
        for place, number in enumerate(numbers):
            if place:
                self.wait_for(EventType.STOP_PERFORMANCE_TRACKING)
            self.process.send_signal(number)

    def end(self) -> tuple[int, str, str]:
        """Wait for its end: exit code, standard output, standard error. No worker of it is left."""
        workers = self.workers()
        out, err = self.process.communicate(timeout=GIVE_UP_S)
        assert "Traceback" not in (err or "")
        self.await_end_of(workers)
        return self.process.returncode, out, err

    def await_end_of(self, pids: list[int]) -> None:
        """Wait until these processes have ended."""
        self.wait_until(lambda: all(map(is_gone, pids)), f"the end of {pids}")


@pytest.fixture
def start_run(
    start_loadgen: Callable[..., subprocess.Popen[str]], tmp_path: Path
) -> Iterator[Callable[..., WatchedRun]]:
    """Start `loadgen perf` against a URL into the folder `run`: `start_run(mock.url, "-c", 4)`."""
    started: list[WatchedRun] = []

    def start(url: str, *arguments: object, out: Path | None = None, **options: Any) -> WatchedRun:
        folder = out or tmp_path / "run"
        process = start_loadgen(
            *("perf", "--url", url, "--model", "mock", "--out", folder, "--json", *arguments), **options
        )
        started.append(WatchedRun(process, folder / "events.db"))
        return started[-1]

    yield start
    for run in started:
        run.process.kill()
        run.process.close()
