"""The program from its first line on: an interrupt ends it with 130, quietly, whenever it comes."""

from __future__ import annotations

import signal
import subprocess
import sys
from itertools import cycle
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from reporter.log.all_events import rows

if TYPE_CHECKING:
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

import loadgen.cli.start
sys.meta_path.insert(0, Interrupts())
loadgen.cli.start.main()
"""


MODULES = (
    *(
        "loadgen.driver.system.memory",
        "loadgen.cli.app",
        "loadgen.cli.plain_command",
        "loadgen.cli.perf",
        "loadgen.driver.workers.launcher",
        "loadgen.sessions.run.preparation",
        "loadgen.driver.plan",
        "asyncio",
    ),
    *("workloads.synthetic", "loadgen.sessions.run.measurement", "sqlite3", "recorder.writer"),
)
"""Some of what is imported before a session, in this order."""


def interrupted(number: int, module: str, url: str, folder: Path) -> subprocess.Popen[str]:
    """A run that sends itself a signal when it imports a module."""
    return subprocess.Popen(
        [
            *(sys.executable, "-c", INTERRUPTED_AT_AN_IMPORT, str(number), module),
            *("perf", "--url", url, "--model", "small-model", "--api-key", "sk-right-key", "-n", "2"),
            *("--quiet", "--on-invalid", "warn", "--out", str(folder / "run")),
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
    ended = [(*process.communicate(timeout=120), process.returncode) for process in started]
    assert ended == [("", "", INTERRUPTED)] * len(MODULES)
    assert list(tmp_path.iterdir()) == []


def test_signals_are_handled_before_anything_that_takes_time_is_imported() -> None:
    """Imports before the handlers of signals are few: an interrupt there shows a traceback of Python."""
    script = "import sys, loadgen.cli.start; print(*sys.modules)"
    loaded = subprocess.run(
        [sys.executable, "-S", "-c", script], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.split()
    assert [name for name in loaded if name.startswith("loadgen")] == [
        "loadgen",
        "loadgen.cli",
        "loadgen.cli.start",
    ]
    assert not {"typing", "contextlib", "pathlib", "ctypes"} & set(loaded)


@pytest.mark.slow
def test_an_ignored_signal_stays_ignored(mock: MockProcess, tmp_path: Path) -> None:
    """As `nohup` wants it for SIGHUP."""
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        process = interrupted(signal.SIGHUP, "typer", mock.url, tmp_path)
    finally:
        signal.signal(signal.SIGHUP, before)
    _, err = process.communicate(timeout=120)
    assert process.returncode == 0, err


INTERRUPTED_IN_A_QUERY = """
import os, signal
import reporter.log.database

def interrupted(windows):
    try:
        os.kill(os.getpid(), signal.SIGINT)
    except KeyboardInterrupt:
        raise RuntimeError("Query interrupted") from None

reporter.log.database.together = interrupted
import loadgen.cli.start
loadgen.cli.start.main()
"""
"""The program, which is interrupted in a query: DuckDB makes its own error of that."""


@pytest.mark.slow
def test_an_interrupt_while_a_query_runs(mock: MockProcess, tmp_path: Path) -> None:
    """The run is whole all the same, and what is said says so."""
    run = str(tmp_path / "a\x1brun")
    ended = subprocess.run(
        [
            *(sys.executable, "-c", INTERRUPTED_IN_A_QUERY, "perf", "--url", mock.url, "--model"),
            *("small-model", "--api-key", "sk-right-key", "-n", "2", "--quiet", "--out", run),
        ],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (ended.returncode, ended.stdout) == (INTERRUPTED, "")
    assert "The log is whole" in ended.stderr
    assert "a\\x1brun; report it with: " in ended.stderr
    assert "Traceback" not in ended.stderr
    assert "\x1b" not in ended.stderr
    assert sum(row["type"] == "TEST_ENDED" for row in rows(Path(run))) == 1


INTERRUPTED_AT_THE_END = """
import atexit, os, signal, sys
atexit.register(os.kill, os.getpid(), signal.SIGTERM)
sys.argv = ["loadgen", *sys.argv[1:]]
import loadgen.cli.start
loadgen.cli.start.main()
"""


@pytest.mark.parametrize(("arguments", "code"), [(["--version"], 0), (["report", "nowhere"], 2)])
def test_no_interrupt_after_the_exit_code_is_certain(arguments: list[str], code: int) -> None:
    """What is printed is out, and the interpreter's own end is not waited for."""
    ended = subprocess.run(
        [sys.executable, "-c", INTERRUPTED_AT_THE_END, *arguments],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert ended.returncode == code
    assert "llm-loadgen" in ended.stdout or "nowhere" in ended.stderr


def test_the_list_of_commands_needs_none_of_their_options() -> None:
    """What is made quickly, for a list, says the same as the whole program."""
    from typer.testing import CliRunner

    from loadgen.cli.typer_application import application

    for asked in (["--help"], ["no-command"]):
        quick, whole = (CliRunner().invoke(application(outline=outline), asked) for outline in (True, False))
        assert (quick.output, quick.exit_code) == (whole.output, whole.exit_code)


def test_a_run_starts_without_the_reporter() -> None:
    """What only a report needs is imported after the last request."""
    script = (
        "import sys\n"
        "import loadgen.cli.perf, loadgen.sessions.run_session, loadgen.sessions.run.preparation\n"
        "import loadgen.sessions.run.preflight, loadgen.sessions.run.measurement\n"
        "print(*(name for name in sys.modules if name.startswith(('reporter.report', 'duckdb', 'pyarrow'))))"
    )
    result = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert result.stdout.split() == []
