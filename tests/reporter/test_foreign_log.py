"""A log that another load generator has written with `recorder.payloads` is reported like any other."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import rulesets
from recorder import EventRecorder, EventType, payloads
from reporter import MetricsReporter
from rulesets.definitions import Definitions

if TYPE_CHECKING:
    from pathlib import Path

MS = 1_000_000


def write(folder: Path) -> None:
    """Ten requests, one every 100 ms: a TTFT of 50 ms, five tokens 10 ms apart, every fifth request fails."""
    record = EventRecorder.record_event
    settings = {"model": "demo", "load": {"kind": "constant", "rate": 10.0}, "max_error_rate": 0.25}
    with EventRecorder(path=folder / "events.db", settings=settings) as recorder:
        start_ns = recorder.session.started_at_ns
        record(EventType.TEST_STARTED, start_ns)
        record(EventType.PHASE_STARTED, start_ns, data=payloads.PhaseStarted(phase="performance"))
        for number in range(10):
            uuid, at_ns = f"request {number}", start_ns + number * 100 * MS
            issued = payloads.Issued(scheduled_ns=at_ns, phase="performance", prompt_id=number)
            record(EventType.LOADGEN_ISSUE_CALLED, at_ns, uuid, data=issued)
            record(EventType.REQUEST_SENT, at_ns, uuid, data=payloads.Sent(reused=True))
            arrivals_ns = [at_ns + (50 + 10 * token) * MS for token in range(5)]
            record(EventType.FIRST_CHUNK, arrivals_ns[0], uuid)
            if number % 5 == 4:
                record(EventType.ERROR, arrivals_ns[1], uuid, data=payloads.Failed(error="quota_exceeded"))
                continue
            complete = payloads.Complete(
                status=200,
                stream=True,
                first_byte_ns=arrivals_ns[0],
                input_tokens=12,
                output_tokens=5,
                **payloads.arrivals(at_ns, arrivals_ns),
            )
            record(EventType.COMPLETE, arrivals_ns[-1], uuid, data=complete)
        end_ns = start_ns + 1000 * MS
        stopped = payloads.Stopped(reason="requests", scheduled=10)
        record(EventType.STOP_PERFORMANCE_TRACKING, end_ns, data=stopped)
        record(EventType.PHASE_ENDED, end_ns, data=payloads.PhaseEnded(phase="performance"))
        record(EventType.TEST_ENDED, end_ns, data=payloads.SessionEnded(reason="completed"))


def test_it_reports_correctly_and_gates(tmp_path: Path) -> None:
    """TTFT, TPOT, ITL, latency, tokens, errors, throughput and validity."""
    write(tmp_path)
    with MetricsReporter(tmp_path) as reporter:
        report = reporter.create_report(
            ruleset=[rulesets.TTFT(50), rulesets.TPOT(10), rulesets.Throughput(8)]
        )
        failing = reporter.create_report(ruleset=[rulesets.QueryLatency(89)])
    assert report.ttft_ms is not None
    assert (report.ttft_ms.p50, report.ttft_ms.max) == (50, 50)
    assert report.tpot_ms is not None
    assert report.tpot_ms.max == 10
    assert report.itl_ms is not None
    assert report.itl_ms.max == 10
    assert report.latency_ms is not None
    assert report.latency_ms.p99 == 90
    assert (report.counts.issued, report.counts.completed, report.counts.failed) == (10, 8, 2)
    assert report.counts.by_error == {"quota_exceeded": 2}
    assert (report.tokens.input, report.tokens.output) == (96, 40)
    assert report.throughput.qps == pytest.approx(8 / 0.89)  # until the last response
    assert report.validity.valid, report.validity.reasons
    assert report.verdict is not None
    assert report.verdict.status == "PASS"
    assert failing.verdict is not None
    assert failing.verdict.status == "FAIL"


def test_an_event_without_its_place_is_reported_as_invalid(tmp_path: Path) -> None:
    """Stamps that a payload alone cannot refute make the run invalid."""
    with EventRecorder(path=tmp_path / "events.db") as recorder:
        issued = payloads.Issued(scheduled_ns=9, phase="performance")
        recorder.record_event(EventType.LOADGEN_ISSUE_CALLED, 5, "a", data=issued)
        recorder.record_event(EventType.TEST_ENDED, 9, data=payloads.SessionEnded(reason="completed"))
    with MetricsReporter(tmp_path) as reporter:
        report = reporter.create_report()
    assert "stamps_out_of_order" in {finding.code for finding in report.findings}
    assert not report.validity.valid


def write_bare(folder: Path) -> None:
    """Ten requests of three events: a TTFT of 20 ms, 11 tokens in the 50 ms after; the last one fails."""
    record = EventRecorder.record_event
    with EventRecorder(path=folder / "events.db") as recorder:
        start_ns = recorder.session.started_at_ns
        record(EventType.TEST_STARTED, start_ns, "")
        for number in range(10):
            uuid, at_ns = f"request {number}", start_ns + number * 100 * MS
            record(EventType.LOADGEN_ISSUE_CALLED, at_ns, uuid)
            record(EventType.FIRST_CHUNK, at_ns + 20 * MS, uuid)
            if number == 9:
                record(EventType.ERROR, at_ns + 30 * MS, uuid, data=payloads.Failed(error="reset"))
            else:
                complete = payloads.Complete(output_tokens=11)
                record(EventType.COMPLETE, at_ns + 70 * MS, uuid, data=complete)
        record(EventType.STOP_PERFORMANCE_TRACKING, start_ns + 2000 * MS)
        record(EventType.TEST_ENDED, start_ns + 2100 * MS)


def test_the_events_of_the_metrics_specification_alone_give_figures(tmp_path: Path) -> None:
    """Without phases and sendings: measured from the issue to the completion, and a finding says so."""
    write_bare(tmp_path)
    with MetricsReporter(tmp_path) as reporter:
        report = reporter.create_report()
        tracked = reporter.create_report(definitions=Definitions(throughput_window="tracked"))
    assert (report.counts.issued, report.counts.completed, report.counts.failed) == (10, 9, 1)
    assert report.ttft_ms is not None
    assert report.tpot_ms is not None
    assert report.latency_ms is not None
    assert (report.ttft_ms.p50, report.tpot_ms.p50, report.latency_ms.p50) == pytest.approx((20, 5, 70))
    assert report.throughput.output_tps == pytest.approx(99 / 0.87)
    # From TEST_STARTED to STOP_PERFORMANCE_TRACKING.
    assert tracked.window.duration_s == pytest.approx(2.0)
    assert tracked.throughput.qps == pytest.approx(4.5)
    assert report.latency_from_schedule_ms is None
    codes = {finding.code for finding in report.findings}
    assert "phases_assumed" in codes
    assert not codes & {"nothing_issued", "completed_but_never_sent", "stamps_out_of_order"}


def test_a_log_with_a_phase_is_read_as_it_is(tmp_path: Path) -> None:
    """Nothing is assumed where any request has a phase."""
    write(tmp_path)
    with MetricsReporter(tmp_path) as reporter:
        report = reporter.create_report()
    assert "phases_assumed" not in {finding.code for finding in report.findings}
