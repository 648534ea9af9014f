"""The program from its first line on: an interrupt ends it with 130, quietly, whenever it comes."""

from __future__ import annotations

import signal
import subprocess
import sys
from itertools import cycle
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from loadgen.mock_endpoint.process import MockProcess

ROOT = __file__.rpartition("tests")[0]
INTERRUPTED = 130

INTERRUPTED_AT_AN_IMPORT = """
import os, signal, sys
number, module = int(sys.argv[1]), sys.argv[2]
sys.argv = ["loadgen", *sys.argv[3:]]

class Interrupts:
    def find_spec(self, name, *_):
        if name == module:
            os.kill(os.getpid(), number)

import cli.start
sys.meta_path.insert(0, Interrupts())
cli.start.main()
"""


MODULES = (
    *("cli.app", "typer", "cli.perf", "loadgen.workers.staff", "cli.preparing", "loadgen.plan", "asyncio"),
    *("workloads.synthetic", "cli.wiring", "sqlite3", "recorder.writer"),
)
"""Some of what is imported before a session, in this order."""


def interrupted(number: int, module: str, url: str, folder: Path) -> subprocess.Popen[str]:
    """A run that sends itself a signal when it imports a module."""
    return subprocess.Popen(
        [
            *(sys.executable, "-c", INTERRUPTED_AT_AN_IMPORT, str(number), module),
            *("perf", "--url", url, "--model", "small-model", "--api-key", "sk-right-key", "-n", "2"),
            *("--quiet", "--out", str(folder / "run")),
        ],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_an_interrupt_while_it_starts(mock: MockProcess, tmp_path: Path) -> None:
    """Whatever is being imported, of the command line or of what a command needs: exit 130, not a word."""
    numbers = cycle([signal.SIGINT, signal.SIGTERM])
    started = [interrupted(next(numbers), module, mock.url, tmp_path) for module in MODULES]
    ended = [(*process.communicate(timeout=60), process.returncode) for process in started]
    assert ended == [("", "", INTERRUPTED)] * len(MODULES)
    assert list(tmp_path.iterdir()) == []


def test_an_ignored_signal_stays_ignored(mock: MockProcess, tmp_path: Path) -> None:
    """As `nohup` wants it for SIGHUP."""
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        process = interrupted(signal.SIGHUP, "typer", mock.url, tmp_path)
    finally:
        signal.signal(signal.SIGHUP, before)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 0, err
