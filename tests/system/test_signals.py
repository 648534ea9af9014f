"""Signals at every moment of a run: docs/durability.md says what each one does."""

from __future__ import annotations

import os
import signal
import socket
from typing import TYPE_CHECKING, Any

import orjson
import pytest

from loadgen.mock_endpoint.process import MockProcess, start_mock
from recorder.event import Event, EventType
from recorder.lifecycle import violations
from tests.processes import is_stopped

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    Start = Callable[..., Any]

INT, TERM, HUP = signal.SIGINT, signal.SIGTERM, signal.SIGHUP
FOR_LONG = ("-c", 4, "--duration", 3600, "--workers", 2)
INTERRUPTED = 130


@pytest.fixture(scope="module")
def mock() -> Iterator[MockProcess]:
    """An endpoint whose streams last a fifth of a second."""
    with start_mock(ttft="40ms", itl="8ms", tokens="20") as server:
        yield server


@pytest.fixture(scope="module")
def endless() -> Iterator[MockProcess]:
    """An endpoint whose streams begin and do not end."""
    with start_mock(ttft="10ms", itl="100s", tokens="20") as server:
        yield server


def phases(events: Sequence[Event]) -> list[str]:
    """The phases that were begun."""
    return [event.data["phase"] for event in events if event.type is EventType.PHASE_STARTED and event.data]


@pytest.mark.parametrize("number", [TERM, HUP])
def test_once_drains(start_run: Start, mock: MockProcess, number: signal.Signals) -> None:
    """What is in flight is awaited, the log is closed in order and the report is there."""
    run = start_run(mock.url, *FOR_LONG)
    run.wait_for(EventType.COMPLETE, 4)
    run.signal(number)
    code, out, err = run.end()
    report = orjson.loads(out)
    assert code == INTERRUPTED
    assert "requests in flight; Ctrl-C again abandons them" in err
    assert report["run"]["ended"] == "interrupted"
    assert report["counts"]["completed"] == report["counts"]["issued"] > 0
    assert report["counts"]["cancelled"] == 0
    assert (run.log.parent / "report.json").exists()
    assert not (run.log.parent / "events.db-wal").exists()
    assert violations(run.events()) == []


@pytest.mark.slow
def test_twice_gives_up_what_is_in_flight(start_run: Start, endless: MockProcess) -> None:
    """And the log is closed in order all the same."""
    run = start_run(endless.url, *FOR_LONG)
    run.wait_for(EventType.FIRST_CHUNK, 4)
    run.signal(INT, INT)
    code, out, _ = run.end()
    counts = orjson.loads(out)["counts"]
    assert code == INTERRUPTED
    assert counts["cancelled"] == counts["issued"] == 4
    assert not (run.log.parent / "events.db-wal").exists()
    assert violations(run.events()) == []


def test_before_there_is_a_session(start_run: Start) -> None:
    """Nothing was measured: it ends at once, and leaves no log and no word."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        run = start_run(f"http://127.0.0.1:{silent.getsockname()[1]}", "-n", 4)
        silent.accept()[0].close()
        connection, _ = silent.accept()
        with connection:
            run.signal(TERM)
            code, out, err = run.end()
    assert (code, out, err) == (INTERRUPTED, "", "")
    assert not run.log.parent.exists()


def test_in_the_warm_up(start_run: Start, mock: MockProcess) -> None:
    """The warm-up drains, and nothing is measured."""
    run = start_run(mock.url, "-c", 2, "--warmup", 1000, "-n", 10)
    run.wait_for(EventType.COMPLETE, 2)
    run.signal(INT)
    code, out, _ = run.end()
    counts = orjson.loads(out)["counts"]
    assert code == INTERRUPTED
    assert counts["issued"] == 0 < counts["warmup"]
    assert phases(run.events()) == ["warmup", "performance", "drain"]
    assert violations(run.events()) == []


def test_in_the_drain(start_run: Start, endless: MockProcess) -> None:
    """All has been issued by itself: once it still waits, twice it gives up."""
    run = start_run(endless.url, "--offline", "-n", 3)
    run.wait_for(EventType.STOP_PERFORMANCE_TRACKING)
    run.wait_for(EventType.FIRST_CHUNK, 3)
    os.kill(run.process.pid, HUP)
    assert any("3 requests in flight" in line for line in run.process.stderr)
    os.kill(run.process.pid, INT)
    code, out, _ = run.end()
    assert code == INTERRUPTED
    assert orjson.loads(out)["counts"]["cancelled"] == 3


@pytest.mark.slow
def test_a_process_that_is_stopped_and_continued(start_run: Start, mock: MockProcess) -> None:
    """The parent, and then a worker: nothing is lost, and no process is taken for dead."""
    run = start_run(mock.url, *FOR_LONG)
    run.wait_for(EventType.COMPLETE, 4)
    for pid in (run.process.pid, run.workers()[0]):
        os.kill(pid, signal.SIGSTOP)
        before = len(mock.truth())
        run.wait_until(lambda: is_stopped(pid) and len(mock.truth()) > before, "it stops, others go on")  # noqa: B023
        os.kill(pid, signal.SIGCONT)
    run.signal(INT)
    _, out, _ = run.end()
    counts = orjson.loads(out)["counts"]
    assert counts["completed"] == counts["issued"] >= 4
    assert violations(run.events()) == []


@pytest.mark.slow
@pytest.mark.parametrize("stream", ["stdout", "stderr"])
def test_no_process_reads_its_output(start_run: Start, mock: MockProcess, stream: str) -> None:
    """The run is done and recorded all the same; without a reader it ends silently, as by SIGPIPE."""
    run = start_run(mock.url, "-c", 4, "-n", 8)
    getattr(run.process, stream).close()
    setattr(run.process, stream, None)
    code, _, err = run.end()
    # 4: a busy machine makes the client late.
    assert code in ({141} if stream == "stdout" else {0, 4}), err
    assert run.count(EventType.COMPLETE) == 8
    assert (run.log.parent / "report.json").exists()
