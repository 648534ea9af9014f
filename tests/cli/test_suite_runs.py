"""A suite is run: killed and interrupted in the middle, resumed, summed up; and its keys are nowhere."""

from __future__ import annotations

import csv
import os
import signal
import sqlite3
import time
from contextlib import closing
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson
import pytest

from loadgen.cli.resume import resume_series
from loadgen.cli.run import run
from loadgen.mock_endpoint.process import MockProcess, start_mock
from loadgen.sessions.errors import UsageError
from loadgen.sessions.settings.resume import ResumeSettings
from loadgen.sessions.settings.run import RunSettings
from recorder.event import EventType
from tests.admission import Admission

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable, Iterator

    Loadgen = Callable[..., subprocess.CompletedProcess[str]]
    Start = Callable[..., subprocess.Popen[str]]

KEY = "sk-right-key-0123456789"
GIVE_UP_S = 120.0
SOUND = {0, 4}
MISSED = {1, 4}
"""On a machine that is busy with other tests a run may be invalid: the client was late."""

SUITE = """\
[meta]
name = "two by three"
description = "Of a test."
[defaults]
url = "{url}"
api_key_env = "MOCK_KEY"
max_tokens = 2
workers = 1
[gate]
require = ["error<1%"]
[[models]]
name = "a"
[[models]]
name = "b"
[[loads]]
requests = 4
[[loads]]
name = "slow"
rate = 20
arrival = "constant"
requests = 12
[[loads]]
name = "slower"
rate = 15
arrival = "constant"
requests = 9
"""
RUNS = [
    f"0{number}-{model}-default-{load}"
    for number, (model, load) in enumerate(product("ab", ("default", "slow", "slower")), start=1)
]


@pytest.fixture(scope="module")
def two_models() -> Iterator[MockProcess]:
    """A quick mock endpoint that knows two models and one key."""
    with start_mock(models=("a", "b"), api_key=KEY, ttft="2ms", itl="1ms", tokens="2") as server:
        yield server


@pytest.fixture
def suite(two_models: MockProcess, tmp_path: Path) -> Path:
    """A suite of two models and three loads, in the folder where the program runs."""
    return suite_for(two_models.url, tmp_path)


def suite_for(url: str, folder: Path) -> Path:
    """The suite for an endpoint."""
    path = folder / "suite.toml"
    path.write_text(SUITE.format(url=url))
    return path


def stop(
    process: subprocess.Popen[str], log: Path, number: signal.Signals, admission: Admission
) -> tuple[str, str]:
    """Send a signal while a run is under way; return what the program printed."""
    await_events(process, log, EventType.LOADGEN_ISSUE_CALLED, 2)
    if number is signal.SIGKILL:
        os.killpg(process.pid, number)
    else:
        process.send_signal(number)
        await_events(process, log, EventType.STOP_PERFORMANCE_TRACKING, 1)
        admission.open()
    output, complaint = process.communicate()
    assert process.returncode == (-9 if number is signal.SIGKILL else 130), complaint
    return output, complaint


def await_events(process: subprocess.Popen[str], log: Path, kind: EventType, number: int) -> None:
    """Wait until a log has a number of events of a kind."""
    until = time.monotonic() + GIVE_UP_S
    while count(log, kind) < number:
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < until
        time.sleep(0.02)


def count(log: Path, kind: EventType) -> int:
    """How many events of a kind a log has, as far as that can be read."""
    if not log.exists():
        return 0
    try:
        with closing(sqlite3.connect(f"file:{log}?mode=ro", uri=True)) as connection:
            query = "SELECT count(*) FROM events WHERE code = ?"
            return int(connection.execute(query, [kind.value]).fetchone()[0])
    except sqlite3.OperationalError:
        return 0


def content(folder: Path, runs: list[str]) -> dict[str, Any]:
    """Every event of the logs of runs."""
    events = {}
    for name in runs:
        with closing(sqlite3.connect(folder / name / "events.db")) as connection:
            events[name] = connection.execute("SELECT * FROM events ORDER BY 1").fetchall()
    return events


@pytest.mark.slow
def test_a_suite_that_is_killed_and_interrupted_is_finished(
    start_loadgen: Start,
    two_models: MockProcess,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Each finished run stays as it was, the one that was cut off is run again, then the rest."""
    monkeypatch.setenv("MOCK_KEY", KEY)
    folder = tmp_path / "done"
    with Admission(two_models.url) as admission:
        suite_for(admission.url, tmp_path)
        # A run asks for the list of models before its requests. Neither of these two can end by itself.
        started = start_loadgen("run", "suite.toml", "--out", "done", "-q")
        admission.admit(5 + 1 + 4)
        stop(started, folder / RUNS[1] / "events.db", signal.SIGKILL, admission)
        first = content(folder, RUNS[:1])
        resumed = start_loadgen("resume", "done", "-q")
        admission.admit(13 + 1 + 4)
        output, complaint = stop(resumed, folder / RUNS[2] / "events.db", signal.SIGINT, admission)
        finish(folder, first, output, complaint, two_models, capsys)


def finish(
    folder: Path,
    first: dict[str, Any],
    output: str,
    complaint: str,
    two_models: MockProcess,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Finish the suite, and look at all of it."""
    assert "2 of 6 runs are done" in output
    assert "resume done" in complaint
    assert (folder / f"{RUNS[1]}.cut-1" / "events.db").exists()
    second = content(folder, RUNS[:2])
    assert second.items() >= first.items()

    before_ns = time.monotonic_ns()
    with pytest.raises(SystemExit) as whole:
        resume_series(ResumeSettings(run=folder, json=True, quiet=True))
    assert whole.value.code in SOUND
    assert answered_since(two_models, before_ns, 9 + 4 + 12 + 9) == 9 + 4 + 12 + 9
    assert content(folder, RUNS).items() >= second.items()
    summary = orjson.loads(capsys.readouterr().out)
    assert summary == orjson.loads((folder / "summary.json").read_bytes())
    assert [point["folder"] for point in summary["points"]] == RUNS
    assert [point["requests"] for point in summary["points"]] == [4, 12, 9, 4, 12, 9]
    assert {point["verdict"] for point in summary["points"] if point["valid"]} <= {"PASS"}
    assert all(point["valid"] for point in summary["points"]) == (whole.value.code == 0)
    with (folder / "summary.csv").open(newline="") as file:
        table = [(row["model"], row["load"]) for row in csv.DictReader(file)]
    assert table == list(product("ab", ("default", "slow", "slower")))
    written = b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())
    assert KEY.encode() not in written
    assert b"MOCK_KEY" in written


def answered_since(mock: MockProcess, moment_ns: int, at_least: int) -> int:
    """How many requests that came since have had an answer; that is written down after it has left."""
    until = time.monotonic() + GIVE_UP_S
    while True:
        later = (record for record in mock.truth() if record.received_ns >= moment_ns)
        number = sum(record.outcome == "completed" for record in later)
        if number >= at_least or time.monotonic() > until:
            return number
        time.sleep(0.02)


@pytest.mark.slow
def test_a_run_that_fails_can_end_the_suite(
    suite: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A resume continues after it, but needs the keys; the most severe run decides the exit code."""
    monkeypatch.setenv("MOCK_KEY", KEY)
    folder = suite.parent / "done"
    failing = RunSettings(
        suite=suite,
        out=folder,
        quiet=True,
        load_filter=["default"],
        set=["require=qps>1000000"],
        stop_on_failure=True,
    )
    with pytest.raises(SystemExit) as ended:
        run(failing)
    assert ended.value.code in MISSED
    output = capsys.readouterr().out
    assert "1 of 2 runs are done" in output
    assert "to continue" in output
    monkeypatch.delenv("MOCK_KEY")
    with pytest.raises(UsageError, match="variable MOCK_KEY, which the suite names, is not set"):
        resume_series(ResumeSettings(run=folder))
    monkeypatch.setenv("MOCK_KEY", KEY)
    for more, complaint in (
        ({"header": ["X: 1"]}, "the variables that headers_env names"),
        ({"prompts": Path("other.jsonl")}, "put them where they were"),
        ({"api_key": "sk-other-key"}, "set those"),
    ):
        with pytest.raises(UsageError, match=complaint):
            resume_series(ResumeSettings(run=folder, **more))
    with pytest.raises(UsageError, match="holds a series already"):
        run(RunSettings(suite=suite, out=folder))
    with pytest.raises(SystemExit) as ended:
        resume_series(ResumeSettings(run=folder, quiet=True))
    assert ended.value.code in MISSED
    assert "2 of 2 runs are done" in capsys.readouterr().out
    assert (folder / "02-b-default-default" / "report.json").exists()
    # After an interrupt at the very end of a run, no further run starts either.
    monkeypatch.setattr("loadgen.sessions.interrupt._stops", [True])
    with pytest.raises(SystemExit) as ended:
        resume_series(ResumeSettings(run=folder, quiet=True))
    assert ended.value.code == 130
    assert len(orjson.loads((folder / "summary.json").read_bytes())["points"]) == 1


def test_a_key_that_an_error_would_show_is_hidden(loadgen: Loadgen, suite: Path) -> None:
    """Also one that only the suite knows to be a key."""
    refused = loadgen("run", suite, "--out", "done", "-q", MOCK_KEY="sk-wrong-key-9876543210")
    assert refused.returncode == 2
    assert "sk-wrong" not in refused.stdout + refused.stderr
