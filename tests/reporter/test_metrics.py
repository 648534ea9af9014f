"""Every figure of the report, on runs small enough to work out by hand."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

import orjson
import pytest

from recorder import EventType
from recorder.schema import Heartbeat
from reporter import MetricsReporter, TPOTReportingMode
from reporter.client_health import RecorderHealth
from reporter.log.database import figures, open_log
from reporter.log.run_head import run_facts
from reporter.report import RequestCounts, ThroughputFigures, Tokens
from reporter.run_facts import CompleteUntil
from rulesets.definitions import Definitions
from tests.reporter.conftest import ns

if TYPE_CHECKING:
    from collections.abc import Callable

    from reporter.report import Report
    from tests.reporter.conftest import Run

    NewRun = Callable[..., Run]

SUMMARIES = (
    "ttft_ms",
    "ttfo_ms",
    "ttfv_ms",
    "ttfb_ms",
    "tpot_ms",
    "itl_ms",
    "latency_ms",
    "latency_from_schedule_ms",
    "ttft_from_schedule_ms",
    "ttfo_from_schedule_ms",
    "ttfv_from_schedule_ms",
    "ttfb_from_schedule_ms",
    "last_token_ms",
    "decode_ms",
    "generation_tps",
    "last_token_from_schedule_ms",
    "issue_lag_ms",
    "send_lag_ms",
    "connect_ms",
    "tls_ms",
    "dns_ms",
    "own_ms",
)


@pytest.mark.slow
@pytest.mark.parametrize("at_once", [1, 12])
def test_columns_that_are_summarized_in_turns(
    a_run: NewRun, monkeypatch: pytest.MonkeyPatch, at_once: int
) -> None:
    """As of a run with very many requests: the same figures, also over its own window."""
    run = a_run()
    for number in range(4):
        run.answers(50 + number, 90, at_ms=3 + number, complete=95 + number, usage=(10, 4))
    definitions = Definitions(throughput_window="steady_state", tpot_denominator="n")

    def report() -> Report:
        with MetricsReporter(folder) as reporter:
            return reporter.create_report(definitions=definitions)

    folder = run.ends().write()
    together = report()
    monkeypatch.setattr("reporter.distribution._VALUES_AT_ONCE", at_once)
    monkeypatch.setattr("reporter.log.database.FEW_REQUESTS", 0)
    assert report() == together


def test_the_times_of_one_request(a_run: NewRun) -> None:
    """Each time is the difference of the two moments that its definition names."""
    run = a_run().answers(
        50,
        60,
        90,
        at_ms=3,
        complete=95,
        usage=(10, 4),
        first_byte_ns=5_000_000_000_045_000_000,
        first_output_ns=5_000_000_000_060_000_000,
        first_visible_ns=5_000_000_000_090_000_000,
        issue={"scheduled": 1, "sent": 10, "dns_ms": 1.0, "connect_ms": 2.0, "tls_ms": 3.0},
    )
    report = run.ends().report()
    medians = {name: getattr(report, name).p50 for name in SUMMARIES}
    assert medians == {
        "ttft_ms": 40,
        "ttfo_ms": 50,
        "ttfv_ms": 80,
        "ttfb_ms": 35,
        "tpot_ms": 20,  # the token that ends the text has no chunk
        "itl_ms": 20,
        "latency_ms": 92,
        "latency_from_schedule_ms": 94,
        "ttft_from_schedule_ms": 49,
        "ttfo_from_schedule_ms": 59,
        "ttfv_from_schedule_ms": 89,
        "ttfb_from_schedule_ms": 44,
        "last_token_ms": 80,
        "last_token_from_schedule_ms": 89,
        "decode_ms": 40,
        "generation_tps": 50,
        "issue_lag_ms": 2,
        "send_lag_ms": 1,
        "connect_ms": 2,
        "tls_ms": 3,
        "dns_ms": 1,
        "own_ms": 3,
    }
    stds = {name: getattr(report, name).std for name in SUMMARIES}
    assert stds == {**dict.fromkeys(SUMMARIES), "itl_ms": pytest.approx(200**0.5)}


def test_a_single_token_has_no_tpot(a_run: NewRun) -> None:
    """The time per output token is one between tokens: a single token, or none, has none."""
    report = a_run().answers(50, usage=(1, 1)).answers(50, usage=(1, 0)).ends().report()
    assert report.tpot_ms is None
    assert report.itl_ms is None
    assert report.ttft_ms is not None
    assert report.ttft_ms.count == 2


def test_a_response_that_is_not_streamed(a_run: NewRun) -> None:
    """A whole response has a latency and a first byte, and no time of a token."""
    report = a_run().answers(complete=80, usage=(3, 7), stream=False, chunks=None).ends().report()
    assert report.latency_ms is not None
    assert report.latency_ms.p50 == 80
    assert report.ttfb_ms is not None
    assert report.ttft_ms is report.tpot_ms is report.itl_ms is None
    assert report.tokens == Tokens(3, 7, "server_usage")
    assert report.throughput.output_tps == pytest.approx(7 / 0.08)


def test_tpot_over_requests_and_over_tokens(a_run: NewRun) -> None:
    """Weighted by tokens, the mean is all the time between tokens over the number of times between tokens."""
    run = a_run().answers(10, 20, usage=(1, 2)).answers(10, 40, 70, 100, usage=(1, 4))
    by_request = run.ends().report().tpot_ms
    run.folder = run.folder / "again"
    by_token = run.report(tpot_reporting_mode=TPOTReportingMode.TOKEN_WEIGHTED).tpot_ms
    assert by_request is not None
    assert (by_request.count, by_request.mean, by_request.p50) == (2, 20, 20)
    assert by_token is not None
    assert (by_token.count, by_token.mean, by_token.p50) == (4, (10 + 90) / 4, 30)


def test_failures_are_in_no_latency_and_no_throughput(a_run: NewRun) -> None:
    """A fast failure does not make the server faster."""
    run = a_run().answers(50, 60, usage=(1, 2), complete=100)
    run.fails("reset", failed=1).fails("http_429", failed=2).fails("reset", failed=500)
    report = run.ends().report()
    assert report.counts == RequestCounts(4, 4, 1, 3, 0, 0, {"reset": 2, "http_429": 1}, 0)
    assert report.latency_ms is not None
    assert (report.latency_ms.count, report.latency_ms.max) == (1, 100)
    assert report.throughput == ThroughputFigures(10, 20, 30)


def test_a_run_in_which_everything_failed(a_run: NewRun) -> None:
    """There is no percentile of nothing; nothing completed a second is a rate all the same."""
    report = a_run().fails().fails("refused").stops(900).ends().report()
    assert [getattr(report, name) for name in SUMMARIES] == [None] * len(SUMMARIES)
    assert report.throughput == ThroughputFigures(0, 0, 0)
    assert report.tokens == Tokens(None, None, None)
    assert not report.validity.valid


def test_a_failure_without_a_name_is_counted(a_run: NewRun) -> None:
    """An error that tells nothing is still an error."""
    run = a_run().issues().happens(EventType.ERROR, 5).ends()
    assert run.report().counts.by_error == {"unknown": 1}


def test_a_cancelled_request_is_not_a_failure(a_run: NewRun) -> None:
    """Requests that the client cancelled are counted apart."""
    run = a_run().answers(5).issues().happens(EventType.CANCELLED, 9, reason="second interrupt").ends()
    assert run.report().counts == RequestCounts(2, 2, 1, 0, 1, 0, {}, 0)


def test_warm_up_is_not_measured(a_run: NewRun) -> None:
    """What is issued to warm up is counted, and is in no other figure, nor does it open the window."""
    run = a_run().answers(900, at_ms=100, issue={"phase": "warmup"}).answers(600, at_ms=500, usage=(1, 1))
    report = run.ends().report()
    assert (report.counts.issued, report.counts.warmup) == (1, 1)
    assert report.latency_ms is not None
    assert report.latency_ms.max == 100
    assert report.window.duration_s == pytest.approx(0.1)


def test_a_request_that_went_out_late_is_measured(a_run: NewRun) -> None:
    """A request that was due before issuing stopped counts, though the client was too late with it."""
    run = a_run().stops(5, scheduled=1).answers(50, at_ms=6, issue={"scheduled": 4}, usage=(1, 1)).ends()
    report = run.report()
    assert report.counts.completed == 1
    assert report.latency_from_schedule_ms is not None
    assert report.latency_from_schedule_ms.max == 46


def test_planned_but_never_issued_requests_are_scheduled(a_run: NewRun) -> None:
    """The log says how many requests the schedule had, which can be more than there was time to issue."""
    assert a_run().answers(5).stops(9, scheduled=7).ends().report().counts.scheduled == 7


def test_a_slow_response_counts_though_the_window_is_over(a_run: NewRun) -> None:
    """What completes in the drain is in the latencies, but not in the completions a second."""
    run = a_run().begins(duration_s=0.2).answers(50, 100, usage=(1, 2)).answers(50, 900, usage=(1, 2))
    report = run.stops(200).ends().report()
    assert report.latency_ms is not None
    assert (report.latency_ms.count, report.latency_ms.max) == (2, 900)
    assert report.throughput.qps == 1 / 0.2


def test_tokens_count_where_they_arrive(a_run: NewRun) -> None:
    """Of a response that outlasts the window, the share of its chunks that came in time counts."""
    run = (
        a_run()
        .begins(duration_s=0.2)
        .answers(50, 100, usage=(1, 10))
        .answers(100, 150, 200, 250, usage=(20, 8))  # three of four chunks
        .answers(201, 202, usage=(300, 5))  # none
        .answers(100, 200, complete=300, usage=(4000, 2))  # all, though it completes later
    )
    report = run.stops(200).ends().report()
    assert report.throughput.output_tps == pytest.approx((10 + 6 + 0 + 2) / 0.2)
    assert report.throughput.total_tps == pytest.approx((18 + 1 + 20 + 4000) / 0.2)
    assert report.tokens == Tokens(4321, 25, "server_usage")


def test_tokens_of_cut_requests_count_where_they_arrived(a_run: NewRun) -> None:
    """By their own count, else as many per chunk as others; in no request rate, and in no latency."""
    cut = {"kind": EventType.CANCELLED, "complete": 200}
    run = a_run().begins(duration_s=0.2).answers(50, 100, usage=(10, 8))  # four tokens a chunk
    run.answers(60, 120, 180, **cut).answers(60, usage=(None, 5), **cut)
    run.answers(190, 210, kind=EventType.CANCELLED, complete=220).answers(**cut).fails(failed=150, chunks=7)
    run.stops(200).ends(230)
    report = run.report()
    assert report.throughput.output_tps == pytest.approx((8 + 3 * 4 + 5 + 4) / 0.2)
    assert report.throughput.total_tps == pytest.approx((29 + 4 * 10) / 0.2)
    assert (report.throughput.qps, report.counts.cancelled) == (1 / 0.2, 4)
    assert report.tokens == Tokens(10, 8, "server_usage")
    mlperf = run.report(definitions=Definitions(throughput_window="tracked"))
    assert mlperf.throughput.output_tps == pytest.approx(8 / 0.2)


def test_a_run_of_cut_requests_alone_has_a_token_rate(a_run: NewRun) -> None:
    """Each chunk counts as a token where no completed request shows more."""
    run = a_run().begins(duration_s=0.2).answers(60, 120, kind=EventType.CANCELLED, complete=200)
    assert run.stops(200).ends().report().throughput.output_tps == 2 / 0.2


def test_a_killed_run_reports_what_had_completed(a_run: NewRun) -> None:
    """Without TEST_ENDED the run was cut off: what completed is reported, what was in flight is counted."""
    run = a_run().answers(50, 60, at_ms=10, usage=(1, 2)).issues(20).issues(100, sent=-1)
    report = run.happens(EventType.REQUEST_SENT, 110).report()
    assert report.run.ended == "cut_off"
    assert report.counts == RequestCounts(3, 3, 1, 0, 0, 2, {}, 0)
    assert (report.window.kind, report.window.duration_s) == ("cut_off", pytest.approx(0.1))
    assert report.throughput.qps == pytest.approx(10)
    assert not report.validity.valid


def test_a_killed_run_says_until_when_its_log_is_complete(a_run: NewRun) -> None:
    """On its own clock and in UTC, and how long before the last sign of life that was."""
    run = a_run().answers(50, 60, at_ms=10)
    run.beat = Heartbeat(ns(300), ns(712.4))
    report = run.report()
    assert report.run.complete_until == CompleteUntil(
        at="2026-01-02T03:04:05.978Z",
        at_ns=ns(300),
        last_sign_of_life="2026-01-02T03:04:06.391Z",
        last_sign_of_life_ns=ns(712.4),
        behind_ms=412.4,
    )
    (cut_off,) = [finding for finding in report.findings if finding.code == "cut_off"]
    assert (
        "complete until 2026-01-02 03:04:05.978 UTC, 412 ms before the last sign of life" in cut_off.message
    )
    with MetricsReporter(run.folder) as reporter:
        rows = reporter.log.execute("SELECT complete_until_ns, written_ns FROM segments").fetchall()
    assert rows == [(ns(300), ns(712.4))]


def test_a_run_that_came_to_its_end_is_complete(a_run: NewRun) -> None:
    """It says so by its end."""
    run = a_run().answers(50, 60, at_ms=10).ends()
    run.beat = Heartbeat(ns(300), ns(712.4))
    assert run.report().run.complete_until is None


@pytest.mark.parametrize(
    "damage",
    [
        "DROP TABLE heartbeats",
        "DELETE FROM heartbeats",
        "UPDATE heartbeats SET complete_until_ns = 'soon'",
        "UPDATE heartbeats SET written_ns = 1.5",
    ],
)
def test_a_log_without_this_fact_is_reported_nevertheless(a_run: NewRun, damage: str) -> None:
    """An earlier version wrote it, or it was changed."""
    folder = a_run().answers(50, 60, at_ms=10).write()
    with closing(sqlite3.connect(folder / "events.db")) as log, log:
        log.execute(damage)
    with open_log(folder) as log:
        assert run_facts(log).complete_until is None
        assert figures(log, "counts")["completed"] == 1


def test_an_empty_log_has_a_report(a_run: NewRun) -> None:
    """A run that was killed at once has no figures, and says why."""
    run = a_run()
    run.events.clear()
    report = run.report()
    assert report.counts == RequestCounts(0, 0, 0, 0, 0, 0, {}, 0)
    assert (report.window.duration_s, report.throughput) == (None, ThroughputFigures(None, None, None))
    assert [finding.code for finding in report.findings] == ["cut_off", "nothing_issued"]


@pytest.mark.parametrize("swapped", [False, True])
def test_an_event_that_came_twice_counts_once(a_run: NewRun, *, swapped: bool) -> None:
    """Of two ends of one request the earlier counts, wherever it is in the log."""
    run = a_run().answers(50, complete=90, usage=(1, 1))
    run.happens(EventType.ERROR, 80, error="reset").happens(EventType.REQUEST_SENT, 40)
    if swapped:
        run.events.reverse()
    report = run.ends().report()
    assert report.counts == RequestCounts(1, 1, 0, 1, 0, 0, {"reset": 1}, 0)
    assert [finding.code for finding in report.findings] == ["nothing_completed", "ended_more_than_once"]


def test_events_of_unknown_requests_are_in_no_figure(a_run: NewRun) -> None:
    """An end without a beginning is in no figure, and has a finding."""
    run = a_run().answers(50, usage=(1, 1)).happens(EventType.COMPLETE, 60, "stranger", first_token_ns=1)
    report = run.ends().report()
    assert (report.counts.issued, report.counts.completed) == (1, 1)
    assert "never_issued" in [finding.code for finding in report.findings]


@pytest.mark.parametrize(
    ("method", "p50", "p90", "p99"),
    [("linear", 50.5, 90.1, 99.01), ("loadgen_floor", 51, 91, 100), ("nearest_rank", 50, 90, 99)],
)
def test_percentiles_by_the_method_asked_for(
    a_run: NewRun, method: str, p50: float, p90: float, p99: float
) -> None:
    """The method decides the percentiles, and the report says which it was."""
    run = a_run()
    for ms in range(1, 101):
        run.answers(complete=ms, usage=(1, 1))
    report = run.ends().report(percentile_method=method)
    assert report.latency_ms is not None
    percentiles = (report.latency_ms.p50, report.latency_ms.p90, report.latency_ms.p99)
    assert percentiles == pytest.approx((p50, p90, p99), abs=1e-9)
    assert report.run.percentile_method == method


def test_what_was_run(a_run: NewRun) -> None:
    """The report repeats what was asked of whom, when, and with what."""
    run = a_run(kind="poisson", rate=3.5)
    run.settings |= {
        "model": "m",
        "url": "http://h",
        "protocol": "chat",
        "stream": True,
        "seed": 7,
        "max_tokens": 9,
        "temperature": 0.0,
        "extra_body": {"top_k": 5},
        "gpus": 8,
        "skip": ["accuracy"],
        "dataset": {"name": "d", "rows": 5},
        "workers": 2,
        "transport": "native",
    }
    run.environment = {
        "version": "1.2",
        "python": "3.11",
        "timestamp_source": "kernel",
        "usable_cpus": 4,
        "packages": {"x": "1"},
    }
    facts = orjson.loads(orjson.dumps(run.ends(reason="interrupted").report().to_dict()["run"]))
    assert facts.pop("sittings") == facts["segments"]
    assert list(facts)[:4] == ["session_id", "started_at", "ended", "segments"]
    assert list(facts)[-4:] == ["tpot_mode", "percentile_method", "definitions", "own_delay_decides"]
    assert facts == {
        "session_id": "a session",
        "started_at": "2026-01-02T03:04:05.678Z",
        "ended": "interrupted",
        "segments": [
            {
                "started_at": "2026-01-02T03:04:05.678Z",
                "ended": "interrupted",
                "issued": 0,
                "completed": 0,
                "window_s": None,
            }
        ],
        "model": "m",
        "url": "http://h",
        "urls": None,
        "protocol": "chat",
        "stream": True,
        "load": {"kind": "poisson", "rate": 3.5},
        "max_tokens": 9,
        "generation": {"max_tokens": 9, "temperature": 0.0, "top_k": 5},
        "seed": 7,
        "schedule_seed": None,
        "planned": {"requests": None, "conversations": None, "duration_s": None},
        "complete_until": None,
        "timeouts_s": {},
        "salt": False,
        "steady": False,
        "max_error_rate": None,
        "on_invalid": "fail",
        "dataset": {"name": "d", "rows": 5},
        "ruleset": None,
        "skip": ["accuracy"],
        "gpus": 8,
        "workers": 2,
        "transport": "native",
        "timestamp_source": "kernel",
        "usable_cpus": 4,
        "versions": {"llm-loadgen": "1.2", "python": "3.11", "platform": None, "x": "1"},
        "percentile_method": "linear",
        "own_delay_decides": None,
        "tpot_mode": "request_weighted",
        "definitions": orjson.loads(orjson.dumps(Definitions().to_dict())),
    }


def test_how_the_recorder_was_doing(a_run: NewRun) -> None:
    """The recorder's last reading counts, wherever it is in the log."""
    run = a_run().session(EventType.TELEMETRY, 60, source="recorder", lost=0, events=9)
    run.session(EventType.TELEMETRY, 50, source="recorder", lost=0, events=4)
    assert run.ends().report().recorder == RecorderHealth(lost=0, events=9)


def test_the_set_up_of_a_connection_is_in_no_first_token(a_run: NewRun) -> None:
    """What a new connection takes is reported by itself: it is in no TTFT, and in no delay of the client."""
    setup = {"reused": False, "dns_ms": 100.0, "connect_ms": 200.0, "tls_ms": 300.0}
    run = a_run().answers(605, usage=(1, 1), issue={"sent": 600.0, **setup})
    report = run.answers(606, at_ms=601, usage=(1, 1), issue={"reused": True}).ends().report()
    assert (report.counts.issued, report.counts.reused) == (2, 1)
    assert report.ttft_ms is not None
    assert report.ttft_ms.max == 5
    assert report.own_ms is not None
    assert report.own_ms.max == 0
    for summary, took in ((report.dns_ms, 100), (report.connect_ms, 200), (report.tls_ms, 300)):
        assert summary is not None
        assert (summary.count, summary.p50) == (1, took)


def test_of_a_retried_request_the_last_sending_counts(a_run: NewRun) -> None:
    """A request that met a stale connection counts from its second sending, and is reported as retried."""
    run = a_run().answers(50, 60, usage=(1, 2), issue={"sent": 1, "reused": True})
    run.happens(EventType.REQUEST_SENT, 30, reused=False, connect_ms=4.0, retried=True)
    run.answers(15, at_ms=5, usage=(1, 1), issue={"sent": 5.5, "reused": True})
    report = run.ends().report()
    assert (report.counts.retried, report.counts.reused) == (1, 1)
    assert report.ttft_ms is not None
    assert (report.ttft_ms.min, report.ttft_ms.max) == (9.5, 20)
    assert report.connect_ms is not None
    assert report.connect_ms.max == 4
    assert report.own_ms is not None
    assert (report.own_ms.count, report.own_ms.max) == (2, 0.5), (
        "the stale connection is not the client's delay"
    )
    assert report.send_lag_ms is not None
    assert (report.send_lag_ms.count, report.send_lag_ms.max) == (1, 0.5)
    assert [finding.code for finding in report.findings] == ["stale_connections"]
