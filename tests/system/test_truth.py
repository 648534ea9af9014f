"""The whole way against a server that knows the truth: what is reported is what was."""

from __future__ import annotations

import sqlite3
from statistics import median
from typing import TYPE_CHECKING, Any

import orjson
import pytest

from loadgen.mock_endpoint.process import start_mock
from recorder.event import Event, EventType
from recorder.lifecycle import violations

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable, Sequence
    from pathlib import Path

LOADS = {
    "closed": ["--concurrency", 6, "--requests", 60],
    "poisson": ["--rate", 30, "--requests", 60],
    "offline": ["--offline", "--requests", 60],
}

MEDIAN_MS = 1.5
"""Tolerance of medians: the way of a chunk through both event loops, on a machine that does other things."""

TAIL_MS = 25.0
"""Tolerance of the 90th percentile: a busy machine stops either side for a while now and then."""

TPOT_MS = 0.3
"""Tolerance of the median TPOT, which averages over the tokens of a request."""


def milliseconds(spans_ns: Sequence[float]) -> list[float]:
    """Nanoseconds in milliseconds, in order."""
    return sorted(span / 1e6 for span in spans_ns)


def events(log: Path) -> list[Event]:
    """The events of a log, as they were written."""
    connection = sqlite3.connect(log)
    events = connection.execute("SELECT code, at_ns, sample_uuid, data FROM events ORDER BY seq").fetchall()
    connection.close()
    return [
        Event(EventType(c), at_ns, uuid, orjson.loads(data) if data else {})
        for c, at_ns, uuid, data in events
    ]


def stamps(log: Path) -> dict[str, list[int]]:
    """The stamps of each completed request, in the order in which they must stand."""
    requests: dict[str, dict[EventType, Event]] = {}
    for event in events(log):
        if event.sample_uuid is not None:
            requests.setdefault(event.sample_uuid, {})[event.type] = event
    ordered = {}
    for uuid, request in requests.items():
        issue, end = request[EventType.LOADGEN_ISSUE_CALLED], request[EventType.COMPLETE]
        ordered[uuid] = [
            issue.data["scheduled_ns"],
            issue.at_ns,
            request[EventType.REQUEST_SENT].at_ns,
            end.data["first_byte_ns"],
            end.data["first_token_ns"],
            end.data["last_token_ns"],
            end.at_ns,
        ]
    return ordered


@pytest.mark.parametrize(
    ("load", "protocol"), [*((load, "chat") for load in LOADS), ("closed", "completions")]
)
def test_what_is_reported_is_what_was(
    loadgen: Callable[..., subprocess.CompletedProcess[str]],
    tmp_path: Path,
    load: str,
    protocol: str,
) -> None:
    """TTFT, TPOT, ITL, latency and counts equal the mock's own truth; every request's stamps are in order."""
    with start_mock(ttft="uniform:30ms..60ms", itl="normal:6ms,1ms", tokens="uniform:8..24", seed=3) as mock:
        run = loadgen(
            *("perf", "--url", mock.url, "--model", "mock", "--protocol", protocol),
            *LOADS[load],
            *("--warmup", 3, "--seed", 5, "--out", "run", "--json"),
        )
        assert run.returncode in {0, 4}, run.stderr  # 4: the client was late, on a busy machine
        report: dict[str, Any] = orjson.loads(run.stdout)
        counts = report["counts"]
        truth = {record.request_id: record for record in mock.truth(counts["issued"] + 3)}
    log = tmp_path / "run" / "events.db"
    measured = {
        event.sample_uuid
        for event in events(log)
        if event.type is EventType.LOADGEN_ISSUE_CALLED and event.data["phase"] == "performance"
    }
    true = [truth[uuid] for uuid in measured]

    assert counts["completed"] == counts["issued"] == counts["scheduled"] == len(true)
    assert counts["failed"] == counts["cancelled"] == counts["in_flight"] == 0
    assert report["validity"]["valid"] is (run.returncode == 0)
    assert report["tokens"]["output"] == sum(record.tokens for record in true)
    assert report["tokens"]["source"] == "server_usage"
    ordered = stamps(log)
    # Offline, requests wait until the mock has read those ahead of them: its time, but unknown to its truth.
    start_ns = {
        record.request_id: ordered[record.request_id][2] if load == "offline" else record.received_ns
        for record in true
    }
    # How late the client was at most, on a busy machine: the server's stamps and its own are of one clock.
    # The server notes the end of a response after it has sent it, and a request after it was sent: it may be
    # late too.
    late_ns = [
        late
        for r in true
        for _, _, sent_ns, _, first_ns, last_ns, end_ns in [ordered[r.request_id]]
        for late in (
            start_ns[r.request_id] - sent_ns,
            first_ns - r.chunk_ns[0],
            last_ns - r.chunk_ns[-1],
            abs(r.done_ns - end_ns),
        )
    ]
    late_ms = max(late_ns) / 1e6
    for name, spans_ns, tolerance_ms in (
        ("ttft_ms", [r.chunk_ns[0] - start_ns[r.request_id] for r in true], MEDIAN_MS),
        ("tpot_ms", [(r.chunk_ns[-1] - r.chunk_ns[0]) / (r.tokens - 1) for r in true], TPOT_MS),
        # Latency counts from the issue: opening a connection is in it, of which the mock knows nothing.
        ("latency_ms", [r.done_ns - ordered[r.request_id][1] for r in true], MEDIAN_MS),
        (
            "itl_ms",
            [b - a for r in true for a, b in zip(r.chunk_ns, r.chunk_ns[1:], strict=False)],
            MEDIAN_MS,
        ),
    ):
        spans_ms = milliseconds(spans_ns)
        assert report[name]["count"] == len(spans_ms), name
        assert report[name]["p50"] == pytest.approx(median(spans_ms), abs=tolerance_ms + late_ms), name
        assert report[name]["p90"] == pytest.approx(
            spans_ms[int(0.9 * len(spans_ms))], abs=TAIL_MS + late_ms
        ), name

    assert violations(events(log)) == []
    assert len(ordered) == len(true) + 3
    assert all(moments == sorted(moments) for moments in ordered.values())
    for uuid, record in truth.items():
        assert ordered[uuid][2] <= record.received_ns
        assert record.chunk_ns[0] <= ordered[uuid][4]


@pytest.mark.slow
def test_a_duration_lasts_what_it_says(
    loadgen: Callable[..., subprocess.CompletedProcess[str]], tmp_path: Path
) -> None:
    """The window is the time that was asked for, and the rate is counted over it."""
    with start_mock(ttft="20ms", itl="1ms", tokens="4") as mock:
        run = loadgen(
            *("perf", "--url", mock.url, "--model", "mock", "--rate", 40, "--arrival", "constant"),
            *("--duration", "1s", "--out", "run", "--json"),
        )
    report = orjson.loads(run.stdout)
    window, counts = report["window"], report["counts"]
    assert (window["kind"], window["duration_s"]) == ("duration", 1.0)
    assert window["end_ns"] - window["start_ns"] == 1_000_000_000
    assert counts["scheduled"] == 40 >= counts["issued"] == counts["completed"]
    ends_ns = [stamps_ns[-1] for stamps_ns in stamps(tmp_path / "run" / "events.db").values()]
    inside = sum(window["start_ns"] <= end_ns <= window["end_ns"] for end_ns in ends_ns)
    assert report["throughput"]["qps"] == pytest.approx(inside)


@pytest.mark.slow
def test_a_slow_server_shows_from_the_schedule(
    loadgen: Callable[..., subprocess.CompletedProcess[str]],
) -> None:
    """With one slot and an open loop the queue is the server's time: in TTFT, and not in the issue lag."""
    with start_mock(ttft="90ms", itl="0ms", tokens="1", slots=1) as mock:
        run = loadgen(
            *("perf", "--url", mock.url, "--model", "mock", "--rate", 100, "--arrival", "constant"),
            *("--requests", 20, "--out", "run", "--json"),
        )
    report = orjson.loads(run.stdout)
    # Request k is due at 10k ms and answered at 90 (k + 1) ms, or later on a busy machine. Half of the
    # longest wait is more than what a client may be held up.
    assert report["ttft_from_schedule_ms"]["max"] > 90 + 80 * 19 - 1
    assert report["issue_lag_ms"]["max"] < report["ttft_ms"]["max"] / 2
