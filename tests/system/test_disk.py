"""A disk that is full, takes nothing, or is taken away: docs/durability.md says what each run promises."""

from __future__ import annotations

import resource
import shutil
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson
import pytest

from loadgen.mock_endpoint.process import MockProcess, start_mock
from recorder.event import EventType
from recorder.lifecycle import violations
from tests.system.conftest import WatchedRun

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Start = Callable[..., Any]
    Loadgen = Callable[..., subprocess.CompletedProcess[str]]

FOR_LONG = ("-c", 16, "--duration", 60, "--workers", 2, "--quiet")
SETUP, INVALID = 3, 4


@pytest.fixture(scope="module")
def mock() -> Iterator[MockProcess]:
    """An endpoint that answers at once, and fills a disk quickly."""
    with start_mock(ttft="1ms", itl="0ms", tokens="40") as server:
        yield server


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 1 MB; only the administrator can make one."""
    folder = tmp_path / "disk"
    folder.mkdir()
    if shutil.which("mount") is None:
        pytest.skip("needs the program `mount`")
    made = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(folder)],  # noqa: S607 (wherever it is)
        capture_output=True,
        text=True,
        check=False,
    )
    if made.returncode:
        pytest.skip(f"no file system can be made here: {made.stderr.strip()}")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)  # noqa: S607 (as above)


def completed(log: Path) -> int:
    """How many requests were completed, in the eyes of plain SQLite."""
    with closing(sqlite3.connect(log)) as connection:
        query = "SELECT count(*) FROM events WHERE code = ?"
        return int(connection.execute(query, [EventType.COMPLETE]).fetchone()[0])


def test_a_disk_that_gets_full(
    start_run: Start, mock: MockProcess, loadgen: Loadgen, small_disk: Path
) -> None:
    """The run ends by itself; what was committed is intact and is reported, also while the disk is full."""
    run = start_run(mock.url, *FOR_LONG, out=small_disk / "run")
    code, out, err = run.end()
    assert code == INVALID
    assert "the log cannot be written any more (database or disk is full)" in err
    assert "Free disk space, then type `loadgen resume`" in err
    report = orjson.loads(out)
    assert report["run"]["ended"] == "cut_off"
    assert report["counts"]["completed"] == completed(run.log) > 0
    assert violations(run.events()) == []
    again = loadgen("report", small_disk / "run", "--json")
    assert again.returncode == INVALID, again.stderr
    assert orjson.loads(again.stdout)["counts"] == report["counts"]

    full = loadgen("perf", "--url", mock.url, "--model", "mock", "-n", 1, "--out", small_disk / "other")
    assert full.returncode == SETUP
    assert "no log can be made here" in full.stderr
    assert "Traceback" not in full.stderr
    assert not (small_disk / "other" / "events.db").exists()


@pytest.mark.slow
def test_a_file_that_may_not_grow(start_run: Start, mock: MockProcess, loadgen: Loadgen) -> None:
    """The same with a limit on the size of files, which anybody can set."""
    run = start_run(mock.url, *FOR_LONG, limits={resource.RLIMIT_FSIZE: 2_000_000})
    code, out, err = run.end()
    assert code == INVALID
    assert "the log cannot be written any more" in err
    assert "`ulimit -f`" in err
    counts = orjson.loads(out)["counts"]
    assert counts["completed"] == completed(run.log) > 0
    assert orjson.loads(loadgen("report", "run", "--json").stdout)["counts"] == counts


@pytest.mark.slow
def test_a_folder_that_is_deleted(start_run: Start, mock: MockProcess) -> None:
    """There is nothing to report then, and the run does not go on for nothing."""
    run = start_run(mock.url, *FOR_LONG)
    run.wait_for(EventType.COMPLETE, 20)
    shutil.rmtree(run.log.parent)
    code, out, err = run.end()
    assert (code, out) == (INVALID, "")
    assert "was moved or deleted" in err
    assert "Another process changed the run's folder" in err


@pytest.mark.slow
def test_a_disk_that_takes_nothing(start_run: Start, mock: MockProcess, loadgen: Loadgen) -> None:
    """Two interrupts end it all the same, with a word on what is lost; what was committed is intact."""
    run = start_run(mock.url, *FOR_LONG)
    run.wait_for(EventType.COMPLETE, 20)
    with closing(sqlite3.connect(run.log, timeout=60, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        run.process.send_signal(signal.SIGINT)
        assert "stopping" in run.process.stderr.readline()
        run.process.send_signal(signal.SIGINT)
        code, out, err = run.end()
        assert (code, out) == (INVALID, "")
        assert "the disk has not taken anything for" in err
        assert "events are not in the log" in err
        other.execute("ROLLBACK")
    report = loadgen("report", "run", "--json")
    assert report.returncode == INVALID
    assert orjson.loads(report.stdout)["counts"]["completed"] == completed(run.log) >= 20
    assert violations(run.events()) == []


@pytest.mark.skipif(sys.platform != "linux", reason="a stream that is always full is /dev/full")
def test_a_full_standard_output(loadgen: Loadgen, mock: MockProcess, tmp_path: Path) -> None:
    """The run is recorded and its report written; that it could not be printed is exit 3."""
    with Path("/dev/full").open("w") as full:
        run = loadgen(
            *("perf", "--url", mock.url, "--model", "mock", "-n", 4, "--out", "run", "-q", "--json"),
            stdout=full,
        )
    assert run.returncode == SETUP
    assert run.stderr.count("\n") == 1
    assert "the output cannot be written (No space left on device)" in run.stderr
    assert orjson.loads((tmp_path / "run" / "report.json").read_bytes())["counts"]["completed"] == 4


@pytest.mark.slow
def test_a_report_that_cannot_be_written(
    start_loadgen: Any, mock: MockProcess, loadgen: Loadgen, tmp_path: Path
) -> None:
    """It is printed, and a note says that the file was not written; half a file is not left behind."""
    made = loadgen(
        *("perf", "--url", mock.url, "--model", "mock", "-n", 4, "--out", "run", "-q"),
        *("--on-invalid", "warn"),
    )
    assert made.returncode == 0, made.stderr
    (tmp_path / "run" / "report.json").unlink()
    process = start_loadgen("report", "run", limits={resource.RLIMIT_FSIZE: 100})
    out, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    assert "report.json was not written (File too large)" in err
    assert "4" in out
    assert sorted(path.name for path in (tmp_path / "run").iterdir()) == ["events.db"]


IMPATIENT = {"recorder.store:_LOCK_TIMEOUT_S": 0.3}
"""The program waits 0.3 s, and not a minute, for the process that has locked its log."""


@pytest.mark.slow
def test_a_log_that_stays_locked(start_loadgen: Start, mock: MockProcess, tmp_path: Path) -> None:
    """By another program: the run ends by itself, says so, and reports what it has."""
    process = start_loadgen(
        *("perf", "--url", mock.url, "--model", "mock", *FOR_LONG, "--out", tmp_path / "run", "--json"),
        constants=IMPATIENT,
    )
    run = WatchedRun(process, tmp_path / "run" / "events.db")
    run.wait_for(EventType.COMPLETE, 20)
    with closing(sqlite3.connect(run.log, timeout=60, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        code, out, err = run.end()
        other.execute("ROLLBACK")
    assert code == INVALID
    assert "Another program has locked the log all the time: end it, and run again" in err
    report = orjson.loads(out)
    assert report["run"]["ended"] == "cut_off"
    assert report["counts"]["completed"] == completed(run.log) >= 20
