"""A `loadgen perf` with several workers, started and looked at from outside."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
import time
from contextlib import closing, suppress
from typing import TYPE_CHECKING, Any

from process_tree import PROC

from loadgen.driver.workers.launcher import PROCESS_NAME

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

PROGRAM = [sys.executable, "-m", "loadgen"]


def start(url: str, folder: Path, *arguments: object, model: str = "bench") -> subprocess.Popen[bytes]:
    """Start a run as the leader of a separate process group; its output goes to the file `said`."""
    command = [*PROGRAM, "perf", "--url", url, "--model", model, "--quiet", "--out", folder, *arguments]
    with folder.with_name("output").open("wb") as output_file:
        return subprocess.Popen(
            [str(part) for part in command],
            stdout=subprocess.DEVNULL,
            stderr=output_file,
            start_new_session=True,
        )


def loadgen(*arguments: object) -> subprocess.CompletedProcess[bytes]:
    """Have the program answer."""
    return subprocess.run([*PROGRAM, *map(str, arguments)], capture_output=True, check=False)


def workers_of(parent: int) -> list[int]:
    """The worker processes of a run."""
    children = [
        int(child)
        for listed in PROC.joinpath(str(parent), "task").glob("*/children")
        for child in listed.read_text().split()
    ]
    return [pid for pid in children if name_of(pid) == PROCESS_NAME]


def require_all(pids: Sequence[int], workers: int, process: subprocess.Popen[Any], folder: Path) -> None:
    """Make sure that this many workers were found: a process that is not observed cannot be checked.

    Raises:
        RuntimeError: Others were; the message has what the run has said, if it is over.
    """
    if len(pids) != workers:
        output_text = "" if process.poll() is None else f": {folder.with_name('output').read_text()}"
        raise RuntimeError(f"of {workers} workers {len(pids)} were found{output_text}")


def name_of(pid: int) -> str:
    """The name of a process; empty when it is gone."""
    with suppress(FileNotFoundError, ProcessLookupError):
        return PROC.joinpath(str(pid), "comm").read_text().strip()
    return ""


def is_there(pid: int) -> bool:
    """Whether a process runs; one that has ended and only waits to be collected does not."""
    with suppress(FileNotFoundError, ProcessLookupError):
        return PROC.joinpath(str(pid), "stat").read_text().rpartition(")")[2].split()[0] != "Z"
    return False


def still_there(pids: Iterable[int], within_s: float) -> list[int]:
    """Those processes that are still there after so long; it is looked until none is."""
    left, give_up = list(pids), time.monotonic() + within_s
    while left and time.monotonic() < give_up:
        time.sleep(0.005)
        left = [pid for pid in left if is_there(pid)]
    return left


def events_of(log: Path, code: int) -> int:
    """How many events of a kind a log has; 0 while there is none."""
    if not log.exists():
        return 0
    with closing(sqlite3.connect(log)) as connection, suppress(sqlite3.OperationalError):
        query = "SELECT count(*) FROM events WHERE code = ?"
        return int(connection.execute(query, [code]).fetchone()[0])
    return 0


def end(process: subprocess.Popen[Any], pids: Iterable[int]) -> None:
    """Leave no process behind, whatever has gone wrong."""
    for pid in (*pids, process.pid):
        with suppress(ProcessLookupError):
            os.kill(pid, 9)
    process.wait()


def table(rows: Iterable[Mapping[str, Any]]) -> str:
    """Rows under the names of their columns."""
    listed = [{name: str(value) for name, value in row.items()} for row in rows]
    names = list(listed[0]) if listed else []
    widths = {name: max(len(name), *(len(row[name]) for row in listed)) for name in names}
    lines = [{name: name for name in names}, *listed]
    return "\n".join("  ".join(line[name].rjust(widths[name]) for name in names) for line in lines)
