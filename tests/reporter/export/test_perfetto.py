"""Perfetto traces: what the trace processor finds in them is what the log says."""

from __future__ import annotations

import random
from statistics import quantiles
from typing import TYPE_CHECKING, Any

from hypothesis import given
from hypothesis import strategies as st

from loadgen.plugins.exports.perfetto import Lanes, trace
from recorder import EventType
from reporter.log.database import open_log
from reporter.reporter import MetricsReporter
from tests.reporter.conftest import WALL_NS, ns

if TYPE_CHECKING:
    from collections.abc import Callable

    Parsed = Callable[[bytes], Any]


def traced(run: Any, parsed: Parsed) -> Any:
    """The trace of a run, parsed."""
    with open_log(run.write()) as log:
        return parsed(b"".join(trace(log)))


def test_a_request_is_three_slices_and_its_chunks(a_run: Callable[..., Any], parsed: Parsed) -> None:
    """Nested on the track of its stream, to the nanosecond; chunks to the half microsecond of the log."""
    run = a_run().answers(50.000123, 60.5, 70.25, at_ms=1.5, issue={"sent": 2.25}).stops(100).ends()
    read = traced(run, parsed)
    (request,) = read.named("request", "measured")
    (send,), (prefill,), (decode,) = (read.named(name) for name in ("send", "prefill", "decode"))
    assert [item.dur for item in (send, prefill, decode)] == [750_000, 47_750_123, 20_249_877]
    assert (request.depth, send.depth, prefill.depth, decode.depth) == (0, 1, 1, 1)
    assert request.ts + request.dur == decode.ts + decode.dur
    assert len({request.track, prefill.track, decode.track}) == 1
    chunks = read.named("chunk", "measured")
    assert [round((chunk.ts - prefill.ts) / 1e6, 2) for chunk in chunks] == [47.75, 58.25, 68.0]
    assert {chunk.depth for chunk in chunks} == {2}
    assert request.arguments["ttft_ms"] == prefill.dur / 1e6
    assert read.clocks == {"monotonic_ns": ns(0), "wall_ns": WALL_NS}


def test_requests_in_flight_together_are_on_their_own_tracks(
    a_run: Callable[..., Any], parsed: Parsed
) -> None:
    """A track is taken again as soon as it is free; the counter says how many were in flight."""
    run = a_run()
    for at_ms in (0, 10, 40):
        run.answers(at_ms + 20, at_ms + 30, at_ms=at_ms, uuid=f"from {at_ms}")
    read = traced(run.stops(100).ends(), parsed)
    tracks = {item.arguments["sample_uuid"]: item.track[-1] for item in read.named("request")}
    assert tracks == {"from 0": "stream 1", "from 10": "stream 2", "from 40": "stream 1"}
    levels = [value for _, value in read.counters["run", "requests in flight"]]
    assert levels == [1, 2, 1, 1, 0]


def test_what_failed_and_what_is_open_stays_apart_from_the_figures(
    a_run: Callable[..., Any], parsed: Parsed
) -> None:
    """The category says how a request ended; one without an end is an open slice."""
    run = a_run().answers(20, 30).fails("reset", at_ms=1, failed=10).issues(at_ms=50)
    run.happens(EventType.RETRY, 60, attempt=1, error="http_503")
    read = traced(run.issues(at_ms=70, phase="warmup", sent=-1).ends(), parsed)
    assert {item.category: item.dur for item in read.named("request")} == {
        "measured": 30_000_000,
        "failed": 9_000_000,
        "in_flight": -1,
        "warmup": -1,
    }
    assert [item.arguments["error"] for item in read.named("retry")] == ["http_503"]
    assert len(read.named("prefill", "measured")) == 1


def test_readings_are_counters_of_their_source(a_run: Callable[..., Any], parsed: Parsed) -> None:
    """Numbers alone, each worker its own, with the unit of its name; findings and phases are events."""
    run = a_run().session(EventType.TELEMETRY, 10, source="client", worker=1, loop_lag_max_ms=1.5, note="x")
    run.session(EventType.TELEMETRY, 20, source="server", kv_cache_pct=-3, ok=True)
    run.session(EventType.FINDING, 30, code="odd", severity="info", message="<script>")
    read = traced(run.answers(50, 60).ends(), parsed)
    key = ("telemetry: client", "worker 1 loop_lag_max_ms")
    assert [value for _, value in read.counters[key]] == [1.5]
    assert read.units[key] == "ms"
    assert [value for _, value in read.counters["telemetry: server", "kv_cache_pct"]] == [-3]
    assert {key[0] for key in read.counters} == {"run", "telemetry: client", "telemetry: server"}
    assert [item.name for item in read.slices if item.track[-1] == "phases"] == ["performance"]
    assert read.named("odd")[0].arguments["message"].startswith("<script>")


def test_sensors_are_counters_of_each_thing_that_they_read(a_run: Callable[..., Any], parsed: Parsed) -> None:
    """The server's metrics and each GPU, next to the client; a failed reading has no number."""
    run = a_run().answers(50, 60)
    for source in ("server", "nvml"):
        run.session(EventType.SENSOR_STARTED, 0, source=source, interval_s=1)
    labels = {"page": "0", "server": "vllm", "model_name": "m"}
    values = {"waiting_requests": 3, "kv_cache_usage_ratio": 0.5}
    run.session(EventType.SENSOR_READING, 10, source="server", labels=labels, readings=values)
    run.session(EventType.SENSOR_READING, 15, source="server", labels=labels, error="timeout", message="!")
    for gpu in ("0", "1"):
        labels = {"gpu": gpu, "uuid": f"GPU-{gpu}", "name": "H200"}
        run.session(EventType.SENSOR_READING, 20, source="nvml", labels=labels, readings={"power_w": 300.5})
    read = traced(run.ends(), parsed)
    place = "page 0 model_name m"
    assert {
        key: [value for _, value in values] for key, values in read.counters.items() if key[0] != "run"
    } == {
        ("telemetry: server", f"{place} waiting_requests"): [3],
        ("telemetry: server", f"{place} kv_cache_usage_ratio"): [0.5],
        ("telemetry: nvml", "gpu 0 power_w"): [300.5],
        ("telemetry: nvml", "gpu 1 power_w"): [300.5],
    }
    assert read.units["telemetry: nvml", "gpu 1 power_w"] == "W"
    assert read.units["telemetry: server", f"{place} kv_cache_usage_ratio"] == "value"


def test_the_percentile_of_the_slices_is_that_of_the_report(
    a_run: Callable[..., Any], parsed: Parsed
) -> None:
    """As the query of docs/export.md finds it, over many requests at a time."""
    chance, run = random.Random(7), a_run()  # noqa: S311 (no secret depends on it)
    for number in range(200):
        at_ms, first = number * 3.0, chance.uniform(5, 400)
        run.answers(at_ms + first, at_ms + first + 10, at_ms=at_ms, uuid=f"request {number}")
    run.fails("reset", at_ms=1, failed=900).stops(1000).ends(2000)
    read = traced(run, parsed)
    ttfts_ms = [item.dur / 1e6 for item in read.named("prefill", "measured")]
    with MetricsReporter(run.folder) as reporter:
        report = reporter.create_report()
    assert len(ttfts_ms) == report.counts.completed == 200
    assert report.ttft_ms is not None
    assert abs(quantiles(ttfts_ms, n=100, method="inclusive")[98] - report.ttft_ms.p99) < 1e-6


@given(st.lists(st.tuples(st.integers(0, 100), st.integers(1, 20) | st.none())))
def test_lanes_never_hold_two_at_a_time(intervals: list[tuple[int, int | None]]) -> None:
    """And there are as many as there are intervals at a time, at most."""
    lanes, until, highest = Lanes(), {}, 0
    for start, length in sorted(intervals, key=lambda interval: interval[0]):
        lane = lanes.take(start, None if length is None else start + length)
        assert until.get(lane, 0) <= start
        until[lane] = start + (1_000 if length is None else length)
        highest = max(highest, sum(1 for end in until.values() if end > start))
        assert set(until) == set(range(highest))
