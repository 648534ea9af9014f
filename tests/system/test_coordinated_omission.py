"""Who sees a stall: of the server, of the client, and of a server that takes no new connections."""

from __future__ import annotations

import os
import signal
import time
from statistics import median
from typing import TYPE_CHECKING, Any

import orjson
import pytest
import trustme

from loadgen.mock_endpoint.process import start_mock
from recorder.event import EventType
from reporter.log.query import query

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable
    from pathlib import Path

    from tests.system.conftest import WatchedRun

    Loadgen = Callable[..., subprocess.CompletedProcess[str]]

RATE, SECONDS = 110, 1.0
OPEN = ("--rate", RATE, "--arrival", "constant", "--duration", SECONDS, "--workers", 1)
STALL_MS = 400.0
AFTER_MS = 100.0
"""What takes longer met the stall: without it an answer takes 10 ms."""

BUSY_MS = 50.0
"""How much a busy machine may add to one figure or another."""

FEW = 8
"""How many requests more or less a busy machine may make slow."""

INVALID = 4


def latencies(run: Path, column: str) -> list[float]:
    """The values of a column of `samples`, in the order of the schedule."""
    return [ms for (ms,) in query(run, f"SELECT {column} FROM samples ORDER BY scheduled_ns").rows]  # noqa: S608 (the test's own)


def test_a_closed_loop_sees_a_stall_once_a_user(loadgen: Loadgen, tmp_path: Path) -> None:
    """Who would have asked meanwhile does not: of all requests as many are slow as there are users."""
    with start_mock(ttft="10ms", itl="0", tokens="1", fast=True, stall="200ms,400ms") as mock:
        run = loadgen(
            *("perf", "--url", mock.url, "--model", "mock", "--no-probe", "--concurrency", 4),
            *("--duration", SECONDS, "--out", "run", "--json"),
        )
    report: dict[str, Any] = orjson.loads(run.stdout)
    for column in ("latency_ms", "latency_from_schedule_ms"):
        slow = [ms for ms in latencies(tmp_path / "run", column) if ms > STALL_MS / 2]
        assert len(slow) == 4, column
        assert min(slow) > STALL_MS - BUSY_MS
        assert report[column]["p90"] < AFTER_MS


def test_an_open_loop_sees_a_stall_with_every_request_that_meets_it(loadgen: Loadgen, tmp_path: Path) -> None:
    """Requests leave on time all the while: both latencies have the stall, as the server's truth has it."""
    with start_mock(ttft="10ms", itl="0", tokens="1", fast=True, stall="200ms,400ms") as mock:
        run = loadgen(
            *("perf", "--url", mock.url, "--model", "mock", "--no-probe", "--json"), *OPEN, *("--out", "run")
        )
        truth = mock.truth(int(RATE * SECONDS))
    report: dict[str, Any] = orjson.loads(run.stdout)
    met = sum(record.done_ns - record.received_ns > AFTER_MS * 1e6 for record in truth)
    assert met == pytest.approx((STALL_MS - AFTER_MS) * RATE / 1e3, abs=FEW)
    for column in ("latency_ms", "latency_from_schedule_ms"):
        slow = [ms for ms in latencies(tmp_path / "run", column) if ms > AFTER_MS]
        assert len(slow) == pytest.approx(met, abs=FEW), column
        assert max(slow) == pytest.approx(STALL_MS, abs=2 * BUSY_MS)
    assert report["issue_lag_ms"]["p90"] < BUSY_MS
    assert report["latency_ms"]["p90"] > STALL_MS / 2


def test_a_bounded_open_loop_shows_a_stall_from_the_schedule(loadgen: Loadgen, tmp_path: Path) -> None:
    """Few are in flight when the server stalls, and due requests wait for them: the latencies diverge."""
    with start_mock(ttft="10ms", itl="0", tokens="1", fast=True, stall="200ms,400ms") as mock:
        run = loadgen(
            *("perf", "--url", mock.url, "--model", "mock", "--no-probe", "--json"),
            *(*OPEN, "--max-concurrency", 4, "--out", "run"),
        )
    report: dict[str, Any] = orjson.loads(run.stdout)
    issued, scheduled = (
        [ms for ms in latencies(tmp_path / "run", column) if ms > AFTER_MS]
        for column in ("latency_ms", "latency_from_schedule_ms")
    )
    assert 1 <= len(issued) <= 4
    assert len(scheduled) > (STALL_MS - AFTER_MS) * RATE / 1e3 - FEW
    assert report["held_ms"]["max"] == pytest.approx(STALL_MS, abs=2 * BUSY_MS)
    assert report["issue_lag_ms"]["p90"] < BUSY_MS, "waiting for a place is not client overhead"
    severities = {finding["code"]: finding["severity"] for finding in report["findings"]}
    assert severities["held_back"] == "warning"
    assert not severities.keys() & {"client_limited", "rate_not_reached"}


def test_a_conversation_sees_a_stall_once(loadgen: Loadgen, tmp_path: Path) -> None:
    """Conversations begin on time all the while; within each, what comes next waits for the answer."""
    talk = [{"role": role, "content": "go on"} for role in ("user", "assistant", "user", "assistant", "user")]
    (tmp_path / "talks.jsonl").write_bytes(orjson.dumps({"messages": talk}) + b"\n")
    with start_mock(ttft="10ms", itl="0", tokens="1", fast=True, stall="200ms,400ms") as mock:
        loadgen(
            *("perf", "--url", mock.url, "--model", "mock", "--no-probe", "--prompts", "talks.jsonl"),
            *("--conversations", "all", "--sessions", 24, "--rate", 30, "--arrival", "constant"),
            *("--think", "20ms", "--out", "run", "--json"),
        )
    columns = "conversation_id, turn, scheduled_ns, complete_ns, latency_from_schedule_ms"
    rows = query(tmp_path / "run", f"SELECT {columns} FROM samples ORDER BY scheduled_ns").rows  # noqa: S608 (the test's own)
    begun = [scheduled_ns for _, turn, scheduled_ns, *_ in rows if turn == 0]
    assert [begun_ns - begun[0] for begun_ns in begun] == [round(number * 1e9 / 30) for number in range(24)]
    ends = {(talk, turn): complete_ns for talk, turn, _, complete_ns, _ in rows}
    pauses_ms = [(due_ns - ends[talk, turn - 1]) / 1e6 for talk, turn, due_ns, *_ in rows if turn]
    assert len(pauses_ms) == 48
    assert min(pauses_ms) >= 20
    assert median(pauses_ms) < 20 + BUSY_MS
    slow = [talk for talk, *_, latency_ms in rows if latency_ms > AFTER_MS]
    assert len(slow) == len(set(slow)) == pytest.approx((STALL_MS - AFTER_MS) * 30 / 1e3, abs=4)


def test_a_stalled_client_shows_only_in_latencies_from_the_schedule(
    start_run: Callable[..., WatchedRun],
    tmp_path: Path,
) -> None:
    """The two latencies come apart by as much as the client was stopped, and the run is called invalid."""
    with start_mock(ttft="10ms", itl="0", tokens="1", fast=True) as mock:
        run = start_run(mock.url, "--no-probe", *OPEN)
        run.wait_for(EventType.COMPLETE, 20)
        (worker,) = run.workers()
        os.kill(worker, signal.SIGSTOP)
        stopped_at = time.monotonic()
        time.sleep(STALL_MS / 1e3)
        os.kill(worker, signal.SIGCONT)
        stopped_ms = (time.monotonic() - stopped_at) * 1e3
        code, out, _ = run.end()
    report: dict[str, Any] = orjson.loads(out)
    issued = latencies(tmp_path / "run", "latency_ms")
    scheduled = latencies(tmp_path / "run", "latency_from_schedule_ms")
    assert len(issued) == RATE * SECONDS
    assert max(scheduled) == pytest.approx(stopped_ms, abs=2 * BUSY_MS)
    assert report["issue_lag_ms"]["max"] == pytest.approx(stopped_ms, abs=2 * BUSY_MS)
    # What was in flight when it was stopped has its stamps from the kernel; what was due leaves afterwards.
    assert sum(ms > AFTER_MS for ms in issued) < FEW
    assert report["ttft_ms"]["p90"] < AFTER_MS < report["ttft_from_schedule_ms"]["p90"]
    late = sum(ms > AFTER_MS for ms in scheduled)
    assert late == pytest.approx((stopped_ms - AFTER_MS) * RATE / 1e3, abs=FEW)
    assert code == INVALID
    assert "client_limited" in {finding["code"] for finding in report["findings"]}


def test_a_server_that_opens_no_connection_shows_from_the_schedule(
    start_run: Callable[..., WatchedRun],
    tmp_path: Path,
) -> None:
    """A handshake that waits is before `sent`: TTFT is without it, latency and both from schedule have it."""
    pem = tmp_path / "server.pem"
    trustme.CA().issue_cert("127.0.0.1").private_key_and_cert_chain_pem.write_to_path(pem)
    with start_mock(ttft="10ms", itl="0", tokens="1", tls_cert=pem) as mock:
        run = start_run(mock.url, "--no-probe", "--insecure", *OPEN)
        run.wait_for(EventType.COMPLETE, 20)
        os.kill(mock.pid, signal.SIGSTOP)
        time.sleep(STALL_MS / 1e3)
        os.kill(mock.pid, signal.SIGCONT)
        _, out, _ = run.end()
    report: dict[str, Any] = orjson.loads(out)
    shaking = latencies(
        tmp_path / "run", "case when not reused then ttft_from_schedule_ms - ttft_ms else 0 end"
    )
    assert sum(ms > AFTER_MS for ms in shaking) > (STALL_MS - AFTER_MS) * RATE / 1e3 / 2
    for figure in ("tls_ms", "latency_ms", "latency_from_schedule_ms"):
        assert report[figure]["max"] > STALL_MS - BUSY_MS, figure
