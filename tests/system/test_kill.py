"""Kill it at any moment: what was answered is on disk, and the report says that the run was cut off."""

from __future__ import annotations

import os
import random
import signal
import sqlite3
import time
from contextlib import closing, suppress
from typing import TYPE_CHECKING

import orjson
import pytest

from loadgen.mock_endpoint.process import start_mock
from recorder.event import EventType

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable
    from pathlib import Path

KILLS = 20
GRACE_NS = 100_000_000
"""What completed longer than this before the kill must be in the log."""


FOUR_USERS = ("--model", "mock", "-c", 4, "--duration", 60, "--out", "run", "--json")
"""What the runs that a signal ends are asked to do."""


def wait_for(log: Path, event: EventType = EventType.TEST_STARTED, times: int = 1) -> None:
    """Wait until an event stands so many times in the log."""
    count = "SELECT count(*) FROM events WHERE code = ?"
    give_up = time.monotonic() + 30
    found = 0
    while found < times:
        assert time.monotonic() < give_up, f"{found} {event.name} of {times}"
        time.sleep(0.005)
        if log.exists():
            with closing(sqlite3.connect(log)) as connection, suppress(sqlite3.OperationalError):
                (found,) = connection.execute(count, [event]).fetchone()


def completed(loadgen: Callable[..., subprocess.CompletedProcess[str]]) -> set[str]:
    """The requests that the log says were completed."""
    answer = loadgen("sql", "run", "select sample_uuid from samples where status = 'completed'", "--json")
    assert answer.returncode == 0, answer.stderr
    return {orjson.loads(line)["sample_uuid"] for line in answer.stdout.splitlines()}


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(KILLS))
def test_nothing_that_was_answered_is_lost(
    loadgen: Callable[..., subprocess.CompletedProcess[str]],
    start_loadgen: Callable[..., subprocess.Popen[str]],
    tmp_path: Path,
    seed: int,
) -> None:
    """`kill -9` of the whole process group at a random moment."""
    after_s = random.Random(seed).uniform(0.05, 1.2)  # noqa: S311 (a moment, not a secret)
    with start_mock(ttft="10ms", itl="2ms", tokens="uniform:2..20", seed=seed) as mock:
        process = start_loadgen(
            *("perf", "--url", mock.url, "--model", "mock", "-c", 24, "--duration", 60, "--out", "run", "-q"),
        )
        wait_for(tmp_path / "run" / "events.db")
        time.sleep(after_s)
        killed_ns = time.monotonic_ns()
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        finished = {
            record.request_id
            for record in mock.truth()
            if record.outcome == "completed" and record.done_ns < killed_ns - GRACE_NS and record.request_id
        }
    assert finished <= completed(loadgen)
    report = loadgen("report", "run", "--json")
    assert report.returncode == 4
    told = orjson.loads(report.stdout)
    assert told["run"]["ended"] == "cut_off"
    assert told["validity"]["valid"] is False
    assert told["counts"]["issued"] == sum(
        told["counts"][part] for part in ("completed", "failed", "cancelled", "in_flight")
    )
    assert "cut off" in loadgen("report", "run").stdout


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_drains_and_reports(
    loadgen: Callable[..., subprocess.CompletedProcess[str]],
    start_loadgen: Callable[..., subprocess.Popen[str]],
    tmp_path: Path,
    number: signal.Signals,
) -> None:
    """What is in flight is awaited, the log is closed in order, and the report is there; exit 130."""
    with start_mock(ttft="50ms", itl="5ms", tokens="20") as mock:
        process = start_loadgen("perf", "--url", mock.url, *FOUR_USERS)
        wait_for(tmp_path / "run" / "events.db", EventType.COMPLETE, times=5)
        process.send_signal(number)
        out, err = process.communicate(timeout=30)
    assert process.returncode == 130, err
    report = orjson.loads(out)
    assert report["run"]["ended"] == "interrupted"
    assert report["counts"]["completed"] == report["counts"]["issued"] > 0
    assert report["counts"]["cancelled"] == 0
    assert (tmp_path / "run" / "report.json").exists()
    assert not (tmp_path / "run" / "events.db-wal").exists()
    assert loadgen("gate", "run", "--require", "error<1%").returncode == 4


def test_a_second_signal_stops_at_once(
    start_loadgen: Callable[..., subprocess.Popen[str]], tmp_path: Path
) -> None:
    """What is in flight is given up, and the log is closed in order all the same."""
    with start_mock(ttft="20ms", itl="100s", tokens="20") as mock:
        process = start_loadgen("perf", "--url", mock.url, *FOUR_USERS)
        wait_for(tmp_path / "run" / "events.db", EventType.FIRST_CHUNK, times=4)
        process.send_signal(signal.SIGINT)
        wait_for(tmp_path / "run" / "events.db", EventType.STOP_PERFORMANCE_TRACKING)
        assert process.poll() is None
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=30)
    assert process.returncode == 130, err
    report = orjson.loads(out)
    assert report["counts"]["cancelled"] == report["counts"]["issued"] == 4
    assert report["ttft_ms"] is None
