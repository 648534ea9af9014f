"""`loadgen perf --workers`: whichever process dies or is interrupted, the log is valid and reported."""

from __future__ import annotations

import os
import signal
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

import orjson
import pytest

from loadgen.mock_endpoint.process import MockProcess, start_mock
from recorder.event import EventType
from recorder.lifecycle import violations
from tests.system.conftest import events_of

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from tests.system.conftest import WatchedRun

    Loadgen = Callable[..., subprocess.CompletedProcess[str]]
    StartRun = Callable[..., WatchedRun]

TWO_WORKERS = ("-c", 6, "--workers", 2, "--duration", 60)


@pytest.fixture(scope="module")
def slow_mock() -> Iterator[MockProcess]:
    """An endpoint with streams that last a quarter of a second."""
    with start_mock(ttft="50ms", itl="10ms", tokens="20") as mock:
        yield mock


def test_a_worker_that_is_killed_makes_the_run_invalid(start_run: StartRun, slow_mock: MockProcess) -> None:
    """The run ends by itself, with a report of what it has; exit 4."""
    run = start_run(slow_mock.url, *TWO_WORKERS)
    run.wait_for(EventType.COMPLETE, 8)
    first, _ = run.workers()
    os.kill(first, signal.SIGKILL)
    code, out, err = run.end()
    assert code == 4, err
    report = orjson.loads(out)
    counts = report["counts"]
    assert report["run"]["ended"] == "worker_lost"
    assert report["validity"]["valid"] is False
    assert 0 < counts["by_error"]["worker_lost"] == counts["failed"] <= 3
    assert counts["issued"] == counts["completed"] + counts["failed"]
    assert counts["completed"] >= 8
    assert any("SIGKILL" in finding["message"] for finding in report["findings"])
    assert violations(run.events()) == []


def test_workers_end_with_a_parent_that_is_killed(start_run: StartRun, slow_mock: MockProcess) -> None:
    """At once, and without a word: what they share with it, standard error, is closed then."""
    run = start_run(slow_mock.url, *TWO_WORKERS)
    run.wait_for(EventType.COMPLETE, 4)
    assert len(run.workers()) == 2
    run.process.kill()
    run.end()


def test_ctrl_c_reaches_everybody_and_drains(start_run: StartRun, slow_mock: MockProcess) -> None:
    """A terminal interrupts the whole process group; what is in flight is awaited all the same."""
    run = start_run(slow_mock.url, *TWO_WORKERS)
    run.wait_for(EventType.COMPLETE, 4)
    os.killpg(run.process.pid, signal.SIGINT)
    code, out, err = run.end()
    assert code == 130, err
    assert "requests in flight; Ctrl-C again abandons them" in err
    report = orjson.loads(out)
    assert report["run"]["ended"] == "interrupted"
    assert report["counts"]["completed"] == report["counts"]["issued"] > 0
    assert violations(run.events()) == []


def test_the_log_says_who_measured(loadgen: Loadgen, tmp_path: Path, slow_mock: MockProcess) -> None:
    """How many workers, which transport, how many CPUs; and connections that were opened ahead are used."""
    run = loadgen(
        *("perf", "--url", slow_mock.url, "--model", "mock", "-c", 4, "-n", 8, "--workers", 2),
        *("--connect-ahead", 4, "--out", "run", "-q", "--on-invalid", "warn"),
    )
    assert run.returncode == 0, run.stderr
    with closing(sqlite3.connect(tmp_path / "run" / "events.db")) as connection:
        settings, environment = connection.execute("SELECT settings, environment FROM session").fetchone()
    values = orjson.loads(settings)
    assert {key: values[key] for key in ("workers", "transport", "connect_ahead")} == {
        "workers": 2,
        "transport": "native",
        "connect_ahead": 4,
    }
    assert orjson.loads(environment)["usable_cpus"] >= 1
    events = events_of(tmp_path / "run" / "events.db")
    assert all(
        event.data["reused"] for event in events if event.type is EventType.REQUEST_SENT and event.data
    )
    telemetry = [event.data for event in events if event.type is EventType.TELEMETRY and event.data]
    assert {data["source"] for data in telemetry} == {"client", "parent", "recorder"}
    assert {data.get("worker") for data in telemetry if data["source"] == "client"} == {0, 1}


@pytest.mark.slow
def test_the_other_transport(loadgen: Loadgen, tmp_path: Path, slow_mock: MockProcess) -> None:
    """It is loaded by the workers, by its name."""
    run = loadgen(
        *("perf", "--url", slow_mock.url, "--model", "mock", "-c", 2, "-n", 4, "--transport", "aiohttp"),
        *("--out", "run", "--json", "-q", "--on-invalid", "warn"),
    )
    assert run.returncode == 0, run.stderr
    assert orjson.loads(run.stdout)["counts"]["completed"] == 4
    assert violations(events_of(tmp_path / "run" / "events.db")) == []


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--workers", 0], "--workers 0: must be from 1"),
        (["--connect-ahead", -1], "--connect-ahead -1: must be from 0"),
        (["--connect-ahead", 5, "--transport", "aiohttp"], "the transport aiohttp cannot"),
    ],
)
def test_options_that_workers_do_not_support(loadgen: Loadgen, options: list[object], message: str) -> None:
    """They are refused before anything starts."""
    run = loadgen("perf", "--url", "http://127.0.0.1:9", "--model", "mock", *options)
    assert run.returncode == 2
    assert message in run.stderr
