"""`loadgen watch`: a run is shown while it goes on, and reported when it is over."""

from __future__ import annotations

import os
import pty
import re
import signal
import sys
import threading
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import orjson
import pyte
import pytest

from loadgen.cli import watch
from loadgen.sessions.run import watching
from recorder import EventRecorder, EventType
from recorder.errors import NotALogError
from recorder.lock import Hold, is_held
from recorder.session import Session
from recorder.store import Store
from reporter import MetricsReporter
from reporter.one_line import line
from reporter.report import Summary

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable
    from pathlib import Path

SETTINGS = {"command": "perf", "model": "llama", "load": {"kind": "closed", "concurrency": 1}}
MS = 1_000_000


@pytest.fixture(autouse=True)
def _no_readings(monkeypatch: pytest.MonkeyPatch) -> None:
    """The recorder logs its own health at the end alone, however long a test takes."""
    monkeypatch.setattr("recorder.writer.HEALTH_INTERVAL_S", 3600.0)


def begin(recorder: EventRecorder) -> None:
    """A session begins now, and one of its requests is answered."""
    record, now_ns = recorder.record_event, time.monotonic_ns()
    record(EventType.TEST_STARTED, now_ns)
    record(EventType.PHASE_STARTED, now_ns, data={"phase": "performance", "requests": 1})
    issued = {"phase": "performance", "scheduled_ns": now_ns}
    record(EventType.LOADGEN_ISSUE_CALLED, now_ns, "a", data=issued)
    record(EventType.REQUEST_SENT, now_ns, "a", data={"reused": True})
    data = {"first_byte_ns": now_ns + MS, "output_tokens": 1, "input_tokens": 1, "stream": False}
    record(EventType.COMPLETE, now_ns + MS, "a", data=data)
    recorder.wait_for_writes()


def end(recorder: EventRecorder) -> None:
    """The session ends in order, and now."""
    record, now_ns = recorder.record_event, time.monotonic_ns() + MS
    record(EventType.STOP_PERFORMANCE_TRACKING, now_ns, data={"scheduled": 1, "reason": "requests"})
    record(EventType.PHASE_ENDED, now_ns, data={"phase": "performance"})
    record(EventType.TEST_ENDED, now_ns, data={"reason": "completed"})


@pytest.mark.slow
def test_a_run_is_watched_until_it_is_over(
    start_loadgen: Callable[..., subprocess.Popen[str]], tmp_path: Path
) -> None:
    """A report as JSON for each reading, also of a run that begins later; then the last, and its exit."""
    watcher = start_loadgen("watch", "run", "--interval", "50ms", "--json")
    assert watcher.stdout is not None
    with EventRecorder(path=tmp_path / "run" / "events.db", settings=SETTINGS) as recorder:
        begin(recorder)
        running = orjson.loads(watcher.stdout.readline())
        while running["counts"]["completed"] < 1:
            running = orjson.loads(watcher.stdout.readline())
        end(recorder)
    out, err = watcher.communicate(timeout=120)
    assert (watcher.returncode, err) == (0, "")
    assert running["run"]["ended"] == "running"
    last = orjson.loads(out.splitlines()[-1])
    assert last["run"]["ended"] == "completed"
    assert last["counts"]["completed"] == last["recorder"]["events"] - 7 == 1


def test_an_interrupt_ends_the_watching_and_not_the_run(
    start_loadgen: Callable[..., subprocess.Popen[str]], tmp_path: Path
) -> None:
    """Elsewhere than on a terminal there is a line for each reading, with the time that has passed."""
    with EventRecorder(path=tmp_path / "run" / "events.db", settings=SETTINGS) as recorder:
        begin(recorder)
        watcher = start_loadgen("watch", "run", "--interval", "50ms")
        assert watcher.stdout is not None
        shown = watcher.stdout.readline()
        assert re.match(r"running  \d{1,3} s  1 of 1 completed  0 in flight  0 failed", shown), shown
        watcher.send_signal(signal.SIGINT)
        _, err = watcher.communicate(timeout=120)
        assert (watcher.returncode, err) == (130, "")
        assert is_held(tmp_path / "run")
    assert recorder.failure is None


def test_a_terminal_gets_a_block_that_is_rewritten(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is removed before the report is printed."""
    ours, theirs = pty.openpty()
    monkeypatch.setenv("TERM", "xterm")
    with (
        EventRecorder(path=tmp_path / "events.db", settings=SETTINGS) as recorder,
        os.fdopen(theirs, "w") as terminal,
    ):
        begin(recorder)
        monkeypatch.setattr(sys, "stdout", terminal)
        shown = b""
        finals: list[Any] = []
        watcher = threading.Thread(target=lambda: finals.append(watch._watched(tmp_path, 0.05, json=False)))
        watcher.start()
        while b"Ctrl-C ends the watching, not the run" not in shown:
            shown += os.read(ours, 65536)
        end(recorder)
        recorder.close()
        while b"milliseconds" not in shown:
            shown += os.read(ours, 65536)
        watcher.join()
        monkeypatch.undo()
    os.close(ours)
    screen = pyte.Screen(80, 50)
    pyte.ByteStream(screen).feed(shown)
    page = "\n".join(screen.display)
    assert b"requests     0 in flight  1 completed" in shown
    assert "in flight  1 completed" not in page
    assert "1 of 1 completed, 0 failed" in page
    assert finals[0].run.ended == "completed"


def test_a_run_that_never_begins_is_reported(tmp_path: Path) -> None:
    """After the time that it was to be waited for."""
    with pytest.raises(NotALogError, match="no run folder has this name"):
        watching.await_log(tmp_path / "run", 0.0)


def test_a_log_that_is_just_being_created_is_waited_for(tmp_path: Path) -> None:
    """An empty file may become a log."""
    (tmp_path / "events.db").touch()
    with pytest.raises(NotALogError):
        watching.await_log(tmp_path, 0.0)
    waiting = threading.Thread(target=watching.await_log, args=(tmp_path, 30.0))
    waiting.start()
    (tmp_path / "events.db").unlink()
    with EventRecorder(path=tmp_path / "events.db"):
        waiting.join()


def test_a_log_that_is_half_made_is_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its first pages are there, and who makes it holds the folder; or it was made while it was looked at."""
    log, slept = tmp_path / "events.db", []

    def made(_: float) -> None:
        slept.append(log.read_bytes())
        log.unlink()
        hold.release()
        Store.create(log, Session()).close()

    monkeypatch.setattr(watching.time, "sleep", made)
    log.write_bytes(b"SQLite format 3\0")
    hold = Hold(tmp_path)
    watching.await_log(tmp_path, 30.0)
    assert slept == [b"SQLite format 3\0"]
    log.unlink()

    def late(path: Path) -> None:
        if not path.exists():
            Store.create(path, Session()).close()
            raise NotALogError(f"{path}: was none when it was looked at")

    monkeypatch.setattr("loadgen.sessions.run.watching.verify", late)
    monkeypatch.setattr(watching.time, "sleep", slept.append)
    watching.await_log(tmp_path, 30.0)


def test_a_file_that_is_not_a_log_is_not_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It exists, and will not become a log."""
    slept: list[float] = []
    monkeypatch.setattr(watching.time, "sleep", slept.append)
    (tmp_path / "README.md").write_text("hello\n" * 1000)
    (tmp_path / "null").symlink_to(os.devnull)
    for name, why in (("README.md", "not a SQLite file"), ("null", "not a regular file")):
        with pytest.raises(NotALogError, match=why):
            watching.await_log(tmp_path / name, 30.0)
    assert slept == []


def test_a_log_that_takes_long_to_read_is_read_less_often(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Reading and showing never take more than a quarter of the time."""
    now_s, slept = [0.0], []

    def read(*_: object) -> None:
        now_s[0] += 2.0

    def sleep(seconds: float) -> None:
        now_s[0] += seconds
        slept.append(seconds)

    monkeypatch.setattr(watching.time, "monotonic", lambda: now_s[0])
    monkeypatch.setattr(watching.time, "sleep", sleep)
    monkeypatch.setattr("loadgen.sessions.run.watching.make_report", read)
    monkeypatch.setattr("loadgen.sessions.run.watching.is_held", lambda _: True)
    readings = watching.reports_while_it_runs(tmp_path, 1.0)
    for _ in range(3):
        next(readings)
    assert sum(slept) == pytest.approx(2 * 6.0)
    assert now_s[0] == pytest.approx(3 * 2.0 + 2 * 6.0)


def test_a_line_says_how_far_how_fast_and_how_well(made_run: Path) -> None:
    """Whatever there is to say."""
    with MetricsReporter(made_run) as reporter:
        report = reporter.create_report()
    shown = line(report)
    assert re.match(r"completed  \d{1,3} s  10 of 10 completed  0 in flight  0 failed", shown), shown
    assert "req/s  TTFT p50 " in shown
    figures = Summary(1, 1, None, 1, 12.5, 1, 1, 99.0, 1, 1)
    failing = replace(
        report,
        counts=replace(report.counts, failed=3, by_error={"http_500": 3}),
        throughput=replace(report.throughput, qps=None),
        ttft_ms=None,
        latency_ms=figures,
    )
    assert line(failing).endswith("3 failed (http_500)  latency p50 12.5 p99 99.0 ms")
