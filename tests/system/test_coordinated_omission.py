"""Who sees a stall: of the server, of the client, and of a server that takes no new connections."""

from __future__ import annotations

import os
import signal
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import orjson
import pytest
import trustme

from loadgen.mock_endpoint.process import start_mock
from recorder.event import EventType
from tests.processes import is_stopped
from tests.remembered_logs import query

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable
    from pathlib import Path

    from tests.system.conftest import WatchedRun

    Loadgen = Callable[..., subprocess.CompletedProcess[str]]

pytestmark = pytest.mark.usefixtures("remembered_logs")

RATE, SECONDS = 110, 1.0
OPEN = ("--rate", RATE, "--arrival", "constant", "--duration", SECONDS, "--workers", 1)
FOR_LONG = (*OPEN[:4], "--duration", 3600, "--workers", 1)
STALL_MS = 400.0
STALL = "200ms,400ms"
AFTER_MS = 100.0
"""What takes longer met the stall: without it an answer takes 10 ms."""

BUSY_MS = 50.0
"""How much a busy machine may add to one figure or another."""

TRIES = 5
"""How often a stall is measured where the client is held up itself, which is as long as the stall may be."""

HELD_UP = "SELECT max((data ->> '$.loop_lag_max_ms')::DOUBLE) FROM events WHERE type = 'TELEMETRY'"
"""For how many ms the client's own event loop stood still."""


def latencies(run: Path, column: str) -> list[float]:
    """The values of a column of `samples`, in the order of the schedule."""
    return [ms for (ms,) in query(run, f"SELECT {column} FROM samples ORDER BY scheduled_ns").rows]  # noqa: S608 (the test's own)


class Row(NamedTuple):
    """When a request was due, sent and over, in ns from the beginning of the stall."""

    scheduled: int
    sent: int
    complete: int


@dataclass(frozen=True, slots=True)
class Stalled:
    """A run whose server stood still from 0 to `END`, and answered nothing meanwhile, however busy it was.

    Attributes:
        report: Of the run.
        rows: All requests.
        turns: Of each the conversation and the turn, where there are any.
    """

    END: ClassVar[int] = round(STALL_MS * 1e6)

    report: dict[str, Any]
    rows: list[Row]
    turns: list[tuple[Any, Any]]

    @property
    def due(self) -> list[Row]:
        """What was due meanwhile."""
        return [row for row in self.rows if 0 <= row.scheduled < self.END]

    @property
    def in_flight(self) -> list[Row]:
        """What was in flight when the stall was over."""
        return [row for row in self.rows if row.sent < self.END <= row.complete]


@pytest.fixture
def stalled(loadgen: Loadgen, tmp_path: Path) -> Callable[..., Stalled]:
    """Measure a server that stalls 200 ms after the first request, for 400 ms."""

    def run(*load: object) -> Stalled:
        for number in range(TRIES):
            out = tmp_path / f"run-{number}"
            with start_mock(ttft="10ms", itl="0", tokens="1", stall=STALL) as mock:
                done = loadgen(
                    *("perf", "--url", mock.url, "--model", "mock", "--no-probe", "--json", "--out", out),
                    *load,
                )
                begin_ns = min(record.received_ns for record in mock.truth(1)) + 200_000_000
            columns = "scheduled_ns, sent_ns, complete_ns, conversation_id, turn"
            samples = query(out, f"SELECT {columns} FROM samples ORDER BY scheduled_ns").rows  # noqa: S608 (the test's own)
            ((held_up_ms,),) = query(out, HELD_UP).rows
            # Where the first request was late, the schedule may end during the stall.
            late_ms = (begin_ns - samples[0][0]) / 1e6 - 200
            if held_up_ms is not None and max(held_up_ms, late_ms) < STALL_MS / 2:
                break
        rows = [Row(*(stamp - begin_ns for stamp in stamps)) for *stamps, _, _ in samples]
        whole = Stalled(orjson.loads(done.stdout), rows, [tuple(row[3:]) for row in samples])
        assert whole.in_flight, done.stderr
        assert all(row.complete >= whole.END for row in (*whole.due, *whole.in_flight))
        return whole

    return run


def test_a_closed_loop_sees_a_stall_once_a_user(stalled: Callable[..., Stalled]) -> None:
    """Who would have asked meanwhile does not: of all requests as many are slow as there are users."""
    run = stalled("--concurrency", 4, "--duration", SECONDS)
    assert len(run.in_flight) <= 4
    assert len(run.due) <= 4
    for column in ("latency_ms", "latency_from_schedule_ms"):
        assert run.report[column]["max"] > STALL_MS / 2
        assert run.report[column]["p50"] < AFTER_MS


def test_an_open_loop_sees_a_stall_with_every_request_that_meets_it(stalled: Callable[..., Stalled]) -> None:
    """Requests leave on time all the while: both latencies have the stall."""
    run = stalled(*OPEN)
    due = STALL_MS * RATE / 1e3
    assert len(run.due) == pytest.approx(due, abs=1)
    # A client that is held up sends some of them afterwards.
    assert due / 2 < len(run.in_flight)
    for column in ("latency_ms", "latency_from_schedule_ms"):
        assert run.report[column]["p90"] > STALL_MS / 2
    assert run.report["issue_lag_ms"]["p50"] < BUSY_MS


@pytest.mark.slow
def test_a_bounded_open_loop_shows_a_stall_from_the_schedule(stalled: Callable[..., Stalled]) -> None:
    """Few are in flight when the server stalls, and due requests wait for them: the latencies diverge."""
    run = stalled(*OPEN, "--max-concurrency", 4)
    assert len(run.in_flight) <= 4
    assert len(run.due) == pytest.approx(STALL_MS * RATE / 1e3, abs=1)
    assert run.report["held_ms"]["max"] > STALL_MS / 2
    assert run.report["issue_lag_ms"]["p50"] < BUSY_MS, "waiting for a place is not client overhead"
    severities = {finding["code"]: finding["severity"] for finding in run.report["findings"]}
    assert severities["held_back"] == "warning"
    # What a busy machine delays is the client's own.
    assert run.report["issue_lag_ms"]["p99"] > 1 or not severities.keys() & {
        "client_limited",
        "rate_not_reached",
    }


@pytest.mark.slow
def test_a_conversation_sees_a_stall_once(stalled: Callable[..., Stalled], tmp_path: Path) -> None:
    """Conversations begin on time all the while; within each, what comes next waits for the answer."""
    talk = [{"role": role, "content": "go on"} for role in ("user", "assistant", "user", "assistant", "user")]
    (tmp_path / "talks.jsonl").write_bytes(orjson.dumps({"messages": talk}) + b"\n")
    run = stalled(
        *("--prompts", "talks.jsonl", "--conversations", "all", "--sessions", 24),
        *("--rate", 30, "--arrival", "constant", "--think", "20ms"),
    )
    rows = list(zip(run.rows, run.turns, strict=True))
    begun = [row.scheduled for row, (_, turn) in rows if turn == 0]
    assert [begun_ns - begun[0] for begun_ns in begun] == [round(number * 1e9 / 30) for number in range(24)]
    ends = {turn: row.complete for row, turn in rows}
    pauses_ms = [(row.scheduled - ends[talk, turn - 1]) / 1e6 for row, (talk, turn) in rows if turn]
    assert len(pauses_ms) == 48
    assert 20 <= min(pauses_ms) < 20 + BUSY_MS
    due = [talk for row, (talk, _) in rows if row in run.due]
    assert len(due) == len(set(due)) >= sum(0 <= begun_ns < run.END for begun_ns in begun) > 0


@pytest.mark.slow
def test_a_stalled_client_shows_only_in_latencies_from_the_schedule(
    start_run: Callable[..., WatchedRun],
    tmp_path: Path,
) -> None:
    """The two latencies come apart by as much as the client was stopped, and the run is called invalid."""
    with start_mock(ttft="10ms", itl="0", tokens="1") as mock:
        run = start_run(mock.url, "--no-probe", *FOR_LONG)
        run.wait_for(EventType.COMPLETE, 20)
        (worker,) = run.workers()
        os.kill(worker, signal.SIGSTOP)
        run.wait_until(lambda: is_stopped(worker), "the worker is stopped")
        stopped_ns = time.monotonic_ns()
        time.sleep(STALL_MS / 1e3)
        continued_ns = time.monotonic_ns()
        os.kill(worker, signal.SIGCONT)
        run.wait_for(EventType.COMPLETE, 150)
        run.signal(signal.SIGINT)
        _, out, _ = run.end()
    report: dict[str, Any] = orjson.loads(out)
    columns = "scheduled_ns, sent_ns, latency_ms, latency_from_schedule_ms"
    rows = query(tmp_path / "run", f"SELECT {columns} FROM samples WHERE complete_ns IS NOT NULL").rows  # noqa: S608 (the test's own)
    due = [row for row in rows if stopped_ns <= row[0] < continued_ns]
    assert len(due) == pytest.approx((continued_ns - stopped_ns) * RATE / 1e9, abs=1)
    for scheduled_ns, sent_ns, latency_ms, from_schedule_ms in due:
        assert sent_ns >= continued_ns
        assert from_schedule_ms - latency_ms >= (continued_ns - scheduled_ns) / 1e6 - 1e-3
    assert report["issue_lag_ms"]["max"] > STALL_MS - BUSY_MS
    assert "client_limited" in {finding["code"] for finding in report["findings"]}


@pytest.mark.slow
def test_a_server_that_opens_no_connection_shows_from_the_schedule(
    start_run: Callable[..., WatchedRun],
    tmp_path: Path,
) -> None:
    """A handshake that waits is before `sent`: TTFT is without it, latency and both from schedule have it."""
    pem = tmp_path / "server.pem"
    trustme.CA().issue_cert("127.0.0.1").private_key_and_cert_chain_pem.write_to_path(pem)
    with start_mock(ttft="10ms", itl="0", tokens="1", tls_cert=pem) as mock:
        run = start_run(mock.url, "--no-probe", "--insecure", *FOR_LONG)
        run.wait_for(EventType.COMPLETE, 20)
        os.kill(mock.pid, signal.SIGSTOP)
        issued = run.count(EventType.LOADGEN_ISSUE_CALLED)
        run.wait_for(EventType.LOADGEN_ISSUE_CALLED, issued + round(STALL_MS * RATE / 1e3))
        time.sleep(STALL_MS / 1e3)  # How long what was issued meanwhile waits is what is tested.
        os.kill(mock.pid, signal.SIGCONT)
        run.wait_for(EventType.COMPLETE, 150)
        run.signal(signal.SIGINT)
        _, out, _ = run.end()
    report: dict[str, Any] = orjson.loads(out)
    shaking = latencies(
        tmp_path / "run", "case when not reused then ttft_from_schedule_ms - ttft_ms else 0 end"
    )
    assert sum(ms > AFTER_MS for ms in shaking) > (STALL_MS - AFTER_MS) * RATE / 1e3 / 2
    for figure in ("tls_ms", "latency_ms", "latency_from_schedule_ms"):
        assert report[figure]["max"] > STALL_MS - BUSY_MS, figure
