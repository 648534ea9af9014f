"""The reporter's findings, and which of them make a run invalid."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from recorder import EventType
from reporter.client_health import ClientHealth, RecorderHealth, WorkerHealth
from reporter.findings.check_inputs import CheckInputs, Violation
from reporter.findings.client_limits import OWN_FAILURES
from reporter.findings.client_overhead import ClientOverhead, OwnPart
from reporter.findings.findings import findings, validity
from reporter.findings.overhead_effect import FEWEST
from reporter.findings.remedies import KEEP_OFF
from reporter.report import Finding, MetricBounds, RequestCounts, Summary

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.reporter.conftest import Run

GOOD = CheckInputs(
    ended="completed",
    load={"kind": "poisson", "rate": 50.0},
    counts=RequestCounts(100, 100, 100, 0, 0, 0, {}, 0),
    token_sources={"server_usage": 100, "client_tokenizer": 0, "chunks": 0, "unknown": 0},
    scheduled_span_ns=2_000_000_000,
    issued_span_ns=2_000_000_000,
    chunks=1000,
    coalesced=0,
    recorder=RecorderHealth(lost=0, longest_wait_ms=30.0),
)


def summary(figure: float) -> Summary:
    """A distribution that is all one figure."""
    return Summary(100, figure, 0, figure, figure, figure, figure, figure, figure, figure)


def severity_by_code(**changes: Any) -> dict[str, str]:
    """Codes and severities of the findings when the evidence of a good run is changed."""
    return {finding.code: finding.severity for finding in findings(replace(GOOD, **changes))}


def counts(**changes: Any) -> RequestCounts:
    """The counts of a good run with changes."""
    return replace(GOOD.counts, **changes)


def test_a_good_run_has_no_findings() -> None:
    """Nothing is said where there is nothing to say, and the run is valid."""
    assert findings(GOOD) == []
    assert validity([]).valid


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"ended": "cut_off"}, {"cut_off": "error"}),
        ({"ended": "interrupted"}, {"interrupted": "error"}),
        ({"counts": RequestCounts(0, 0, 0, 0, 0, 0, {}, 3)}, {"nothing_issued": "error"}),
        (
            {"counts": counts(completed=0, failed=100, by_error={"reset": 100})},
            {"nothing_completed": "error"},
        ),
        ({"counts": counts(completed=99, failed=1, by_error={"reset": 1})}, {"requests_failed": "warning"}),
        ({"counts": counts(completed=95, failed=5, by_error={"reset": 5})}, {"requests_failed": "warning"}),
        ({"counts": counts(completed=94, failed=6, by_error={"reset": 6})}, {"many_failures": "error"}),
        ({"token_sources": {"chunks": 100}}, {"tokens_from_chunks": "warning"}),
        (
            {"token_sources": {"server_usage": 60, "client_tokenizer": 40}},
            {"mixed_token_sources": "warning"},
        ),
        ({"token_sources": {"server_usage": 99, "unknown": 1}}, {"tokens_unknown": "warning"}),
        ({"input_unknown": 1}, {"tokens_unknown": "warning"}),
        ({"input_unknown": 100}, {}),
        (
            {"counts": counts(completed=99, failed=1, by_error={"client_limit": 1})},
            {"requests_failed": "warning"},
        ),
        (
            {"counts": counts(completed=98, failed=2, by_error={"client_limit": 1, "client_bug": 1})},
            {"client_limited": "error", "requests_failed": "warning"},
        ),
        (
            {"counts": counts(completed=98, failed=2, by_error={"worker_lost": 2})},
            {"client_limited": "error", "requests_failed": "warning"},
        ),
        ({"client": ClientHealth(readings=1, loop_lag_p50_ms=10.0), "latency_ms": summary(100.0)}, {}),
        (
            {
                "client": ClientHealth(readings=1, loop_lag_p50_ms=10.1),
                "latency_ms": summary(100.0),
                "load": {"kind": "closed"},
            },
            {"client_stalled": "warning"},
        ),
        (
            {"client": ClientHealth(readings=1, loop_lag_p50_ms=25.1), "latency_ms": summary(100.0)},
            {"client_limited": "error"},
        ),
        (
            {"client": ClientHealth(readings=1, loop_lag_max_ms=501.0), "latency_ms": summary(100.0)},
            {"client_stalled": "warning"},
        ),
        ({"client": ClientHealth(readings=1, loop_lag_max_ms=501.0), "latency_ms": summary(600.0)}, {}),
        ({"client": ClientHealth(readings=1, cpu_share_mean=0.7)}, {}),
        ({"client": ClientHealth(readings=1, cpu_share_mean=0.71)}, {"client_busy": "warning"}),
        ({"client": ClientHealth(readings=1, cpu_share_mean=0.91)}, {"client_limited": "error"}),
        (
            {"client": ClientHealth(readings=1, cpu_share_mean=0.95), "load": {"kind": "closed"}},
            {"client_limited": "error"},
        ),
        ({"client": ClientHealth(readings=1, cpu_share_mean=0.6, cpu_share_sum=1.8), "usable_cpus": 2}, {}),
        (
            {"client": ClientHealth(readings=1, cpu_share_mean=0.6, cpu_share_sum=1.81), "usable_cpus": 2},
            {"client_limited": "error"},
        ),
        (
            {"client": ClientHealth(readings=1, cpu_share_mean=0.6, cpu_share_sum=1.81), "usable_cpus": None},
            {},
        ),
        ({"client": ClientHealth(readings=1, cpu_wait_share_mean=0.1, cpu_wait_share_max=0.9)}, {}),
        ({"client": ClientHealth(readings=1, cpu_wait_share_mean=0.11)}, {"cpu_contended": "warning"}),
        (
            {
                "client": ClientHealth(readings=1, cpu_wait_share_mean=0.5, cpu_share_sum=1.9),
                "usable_cpus": 2,
            },
            {"client_limited": "error"},
        ),
        ({"client": ClientHealth(readings=1, held_up_ms=0.0, backlog_events_max=9)}, {}),
        ({"client": ClientHealth(readings=1, held_up_ms=0.1)}, {"writer_behind": "warning"}),
        ({"counts": counts(retried=1)}, {"stale_connections": "info"}),
        ({"counts": counts(reused=2), "reusable": 20}, {"connections_closed": "info"}),
        ({"counts": counts(reused=3), "reusable": 20}, {}),
        ({"counts": counts(reused=0), "reusable": 19}, {}),
        ({"prompts": 100, "asked": 100}, {}),
        ({"prompts": 99, "asked": 100}, {"prompts_repeated": "info"}),
        ({"recorder": RecorderHealth(longest_wait_ms=100.0)}, {}),
        ({"recorder": RecorderHealth(longest_wait_ms=100.1)}, {"recorder_slow": "warning"}),
        ({"coalesced": 100}, {}),
        ({"coalesced": 101}, {"coalesced_reads": "info"}),
        ({"violations": (Violation("stamps_out_of_order", 2, "a"),)}, {"stamps_out_of_order": "error"}),
    ],
)
def test_each_fault_has_its_finding(changes: dict[str, Any], expected: dict[str, str]) -> None:
    """Each fault alone has its own finding, with its severity."""
    assert severity_by_code(**changes) == expected


NONE = OwnPart(0.0, 50.0)


def own(p99: OwnPart, p50: OwnPart = NONE, count: int = FEWEST) -> ClientOverhead:
    """What the client took of the time to the first token, at the p99 and at the median."""
    return ClientOverhead(count, p50, p99)


@pytest.mark.parametrize("kind", ["constant", "poisson", "closed"])
@pytest.mark.parametrize(
    ("delay", "expected"),
    [
        (own(OwnPart(5.0, 100.0)), {}),
        (own(OwnPart(5.1, 100.0)), {"client_late": "warning"}),
        (own(OwnPart(10.0, 100.0)), {"client_late": "warning"}),
        (own(OwnPart(10.1, 100.0)), {"client_limited": "error"}),
        (own(OwnPart(1.0, 2.0)), {}),
        (own(OwnPart(1.1, 2.0)), {"client_late": "warning"}),
        (own(OwnPart(4.0, 12.0)), {"client_late": "warning"}),
        (own(OwnPart(4.1, 12.0)), {"client_limited": "error"}),
        (own(OwnPart(1.1, 2.0), OwnPart(1.0, 2.0)), {"client_late": "warning"}),
        (own(OwnPart(1.1, 2.0), OwnPart(1.1, 2.0)), {"client_limited": "error"}),
        (own(OwnPart(0.0, 0.0)), {}),
        (own(OwnPart(90.0, 100.0), OwnPart(1.0, 5.0), FEWEST - 1), {"client_late": "warning"}),
        (own(OwnPart(90.0, 100.0), OwnPart(1.1, 5.0), FEWEST - 1), {"client_limited": "error"}),
        (own(OwnPart(0.0, 100.0), OwnPart(9.0, 10.0), FEWEST - 1), {}),
    ],
)
def test_client_overhead_has_a_limit(kind: str, delay: ClientOverhead, expected: dict[str, str]) -> None:
    """More than 10 % and 4 ms of the TTFT's p99 are too much, or 1 ms where the median has as much.

    Below 100 requests the median has to agree.
    """
    assert severity_by_code(load={"kind": kind}, own=delay) == expected


def test_in_a_short_run_the_message_says_what_decides() -> None:
    """A p99 above the limit and a median below it: the run is valid, and the message has both."""
    evidence = replace(GOOD, own=own(OwnPart(13.0, 100.0), OwnPart(1.0, 50.0), 42))
    (finding,) = findings(evidence)
    assert (finding.code, finding.severity) == ("client_late", "warning")
    assert "(13.0 of 100.0 ms; limit 10 %). With fewer than 100 requests (42) the median" in finding.message
    assert "client overhead is 2.0 % of TTFT p50" in finding.message


def test_without_a_latency_no_delay_is_compared_with_it() -> None:
    """Where nothing completed there is no figure that a late event loop could have changed."""
    client = ClientHealth(readings=1, loop_lag_p50_ms=2.0, loop_lag_max_ms=900.0)
    nothing = counts(completed=0, failed=100, by_error={"http_401": 100})
    codes = [
        finding.code for finding in findings(replace(GOOD, counts=nothing, latency_ms=None, client=client))
    ]
    assert "nothing_completed" in codes
    assert not {"client_limited", "client_stalled"} & set(codes)


def test_offline_lateness_is_not_a_finding() -> None:
    """A load that is due all at once has lateness in it by its nature."""
    assert severity_by_code(load={"kind": "offline"}, own=own(OwnPart(90.0, 100.0))) == {}


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"counts": counts(scheduled=106)}, {}),
        ({"counts": counts(scheduled=107)}, {"rate_not_reached": "error"}),
        ({"counts": counts(scheduled=200), "ended": "interrupted"}, {"interrupted": "error"}),
        ({"issued_span_ns": 2_100_000_000}, {}),
        ({"issued_span_ns": 2_110_000_000}, {"rate_not_reached": "error"}),
        ({"issued_span_ns": 2_110_000_000, "load": {"kind": "closed", "rate": None}}, {}),
        ({"counts": RequestCounts(5, 4, 4, 0, 0, 0, {}, 0)}, {}),
        *(
            ({"counts": counts(scheduled=107), "load": load}, {"rate_not_reached": "error"})
            for load in (
                {"kind": "gamma", "rate": None, "profile": "ramp:1..50,60s"},
                {"kind": "uniform", "stages": [{"start_s": 0, "duration_s": 60, "rate": "5"}]},
                {"kind": "trace"},
            )
        ),
        ({"requests_behind": 5, "seconds_behind": 1, "seconds": 20}, {}),
        ({"requests_behind": 6, "seconds_behind": 1, "seconds": 20}, {"rate_not_reached": "error"}),
        ({"requests_behind": 6, "load": {"kind": "closed"}}, {}),
    ],
)
def test_a_rate_must_be_reached(changes: dict[str, Any], expected: dict[str, str]) -> None:
    """An open loop issues at 95 % of its rate at least, by number and by pace."""
    assert severity_by_code(**changes) == expected


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"qps": 30.0, "window_s": 1.9}, {"too_short": "warning"}),
        ({"qps": 30.0, "window_s": 2.0}, {}),
        ({"qps": 45.0, "window_s": 1.9}, {}),
        ({"qps": 30.0, "window_s": 1.9, "load": {"kind": "closed", "rate": None}}, {}),
        ({"qps": 30.0, "window_s": 1.9, "load": {"kind": "poisson", "profile": "ramp:1..50,60s"}}, {}),
    ],
)
def test_a_window_of_ramps_shows_no_rate(changes: dict[str, Any], expected: dict[str, str]) -> None:
    """Below twenty latencies, where the throughput is below the rate: what is wanted, reached and needed."""
    assert severity_by_code(latency_ms=summary(100.0), **changes) == expected
    if expected:
        (finding,) = findings(replace(GOOD, latency_ms=summary(100.0), **changes))
        assert "30 of 50 req/s completed" in finding.message
        assert "19.0 median latencies" in finding.message
        assert "--duration 5s" in finding.remedy


def test_messages_have_the_facts_and_what_to_do() -> None:
    """The biggest classes of failures are named with their numbers, the rest together; there is a remedy."""
    errors = {"reset": 4, "http_429": 9, "dns": 1, "tls": 2, "truncated": 1}
    (finding,) = findings(replace(GOOD, counts=counts(completed=83, failed=17, by_error=errors)))
    assert "17 of 100 requests failed (17 %): 9 http_429, 4 reset, 2 tls, 2 others" in finding.message
    assert "error_message" in finding.remedy


def test_the_worker_that_limits_is_named() -> None:
    """Of several workers, the one with the worst figure is named by its number."""
    workers = [WorkerHealth(0, cpu_share_mean=0.2), WorkerHealth(1, cpu_share_mean=0.95)]
    client = ClientHealth(readings=1, cpu_share_mean=0.95, workers=2, per_worker=workers)
    (finding,) = findings(replace(GOOD, client=client))
    assert "The client's worker 1 used 95.0 % of a core." in finding.message


@pytest.mark.parametrize(
    ("workers", "usable", "expected"),
    [(4, 4, "start it with --workers 3."), (2, 4, "lower the rate"), (1, 1, "lower the rate")],
)
def test_a_writer_that_falls_behind_needs_a_cpu(workers: int, usable: int, expected: str) -> None:
    """Where the workers take every CPU, one fewer leaves one to the writer."""
    client = ClientHealth(readings=1, held_up_ms=250.0, backlog_events_max=4096, workers=workers)
    (finding,) = findings(replace(GOOD, client=client, usable_cpus=usable))
    assert (
        "paused for 250 ms in all, because the log was written too slowly. Up to 4096 events"
        in finding.message
    )
    assert expected in finding.remedy


def test_each_failure_of_our_own_has_its_remedy() -> None:
    """The remedy is for the failures that happened, and for no others."""
    errors = {"client_limit": 1, "worker_lost": 20}
    (finding, _) = findings(replace(GOOD, counts=counts(completed=79, failed=21, by_error=errors)))
    assert finding.remedy == f"{OWN_FAILURES['client_limit']} {OWN_FAILURES['worker_lost']}"


def test_errors_come_first_and_make_the_run_invalid() -> None:
    """The run is invalid for the errors, each a reason, and for nothing else."""
    logged = (Finding("hint", "info", "by the way"), Finding("clock", "error", "the clock was stepped"))
    evidence = replace(
        GOOD, logged=logged, ended="interrupted", recorder=RecorderHealth(longest_wait_ms=500.0)
    )
    ordered = findings(evidence)
    assert [finding.code for finding in ordered] == ["interrupted", "clock", "recorder_slow", "hint"]
    assert validity(ordered).reasons == [finding.message for finding in ordered[:2]]


# The evidence that a log gives…


def codes(run: Run) -> list[str]:
    """What is found in a run, effects after their cause."""
    return [code for finding in run.report().findings for code in (finding.code, *finding.effects)]


def test_findings_of_the_log_are_repeated(a_run: Callable[..., Run]) -> None:
    """Findings of the load generator are in the report, with an unknown severity as a warning."""
    run = a_run().answers(5, usage=(1, 1)).ends()
    run.session(
        EventType.FINDING, 5, code="clock", severity="info", message="It was stepped.", remedy="None."
    )
    run.session(EventType.FINDING, 6, code="odd", severity="dreadful")
    assert run.report().findings == [
        Finding("odd", "warning", "", ""),
        Finding("clock", "info", "It was stepped.", "None."),
    ]


def test_a_lost_worker_invalidates_the_run(a_run: Callable[..., Run]) -> None:
    """What the parent found of a worker that died makes the run invalid, however few requests it had."""
    run = a_run()
    for _ in range(200):
        run.answers(5, usage=(1, 1))
    run.fails("worker_lost", message="worker 1 was killed")
    run.session(
        EventType.FINDING,
        9,
        code="worker_lost",
        severity="error",
        message="Worker 1 was killed.",
        remedy="Why?",
    )
    report = run.ends().report()
    assert [finding.code for finding in report.findings] == ["worker_lost", "requests_failed"]
    assert (report.validity.valid, report.validity.reasons) == (False, ["Worker 1 was killed."])
    assert report.counts.by_error == {"worker_lost": 1}


@pytest.mark.parametrize("usage", [(1, 2), None])
def test_tokens_counted_in_chunks_are_found(a_run: Callable[..., Run], usage: tuple[int, int] | None) -> None:
    """Only where the server sent no usage does the report say that chunks were counted."""
    assert codes(a_run().answers(5, 6, usage=usage).ends()) == ([] if usage else ["tokens_from_chunks"])


def test_a_warm_up_without_usage_has_no_finding(a_run: Callable[..., Run]) -> None:
    """The warm-up is not measured."""
    run = a_run().answers(5, 6, issue={"phase": "warmup"}).answers(5, 6, usage=(1, 2)).ends()
    assert codes(run) == []


def test_a_slow_client_is_found_in_its_log(a_run: Callable[..., Run]) -> None:
    """Requests that are issued later and later break the rate and the lateness rule."""
    run = a_run(kind="constant", rate=100.0)
    for n in range(20):
        run.answers(20.0 * n + 5, at_ms=20.0 * n, issue={"scheduled": 10.0 * n}, usage=(1, 1))
    assert codes(run.stops(400).ends()) == ["client_limited", "rate_not_reached"]


@pytest.mark.parametrize(
    ("late_ms", "expected"), [(0, []), (50, []), (400, ["client_late", "rate_not_reached"])]
)
def test_a_burst_that_was_not_held_is_found(
    a_run: Callable[..., Run], late_ms: float, expected: list[str]
) -> None:
    """A rate held on average is not held where its peaks were levelled; a small delay is allowed."""
    run = a_run(kind="constant", rate=None, profile="bursts:10,100,2s,1s").begins(duration_s=6)
    for second in range(6):
        number = 100 if second % 2 else 10
        for k in range(number):
            due = 1000 * (second + k / number)
            at_ms = due + (late_ms * k / number if second % 2 else 0)
            run.answers(at_ms + 5000, at_ms=at_ms, issue={"scheduled": due, "sent": at_ms}, usage=(1, 1))
    assert sorted(codes(run.stops(6000).ends(12000))) == expected


def test_later_turns_do_not_say_whether_a_rate_was_held(a_run: Callable[..., Run]) -> None:
    """When a turn is due follows from the answer before it, so that its lateness is not the schedule's."""
    run = a_run(kind="constant", rate=2.0)
    for k in range(4):
        run.answers(500 * k + 5, at_ms=500 * k, issue={"scheduled": 500 * k, "turn": 0}, usage=(1, 1))
    for k in range(4):
        run.answers(9000 * k + 5, at_ms=9000 * k, issue={"scheduled": 9000 * k, "turn": 1}, usage=(1, 1))
    assert codes(run.stops(2000).ends(40000)) == []


def test_a_failure_quotes_what_was_said(a_run: Callable[..., Run]) -> None:
    """The finding has the first message of the most frequent failure."""
    run = a_run().answers(5, usage=(1, 1))
    for message in ("no such model", "another"):
        run.fails(error="http_404", message=message)
    run.fails(error="reset", message="gone")
    (finding,) = run.ends().report().findings
    assert finding.message.endswith("For example, http_404: no such model")


def test_coalesced_reads_are_found_in_the_log(a_run: Callable[..., Run]) -> None:
    """Reads with several chunks are counted relative to the chunks of all completed requests."""
    run = a_run().answers(5, 6, 7, 8, usage=(1, 4), coalesced=1).ends()
    assert codes(run) == ["coalesced_reads"]


OUT_OF_ORDER: tuple[dict[str, Any], ...] = (
    {"at_ms": 3, "issue": {"scheduled": 4}},
    {"at_ms": 3, "issue": {"sent": 2}},
    {"first_byte_ns": 5_000_000_000_008_000_000},
    {"first_byte_ns": 4_999_999_999_999_000_000},
    {"first_output_ns": 5_000_000_000_006_000_000},
    {"last_token_ns": 5_000_000_000_006_000_000},
    {"complete": 11},
)


def test_stamps_out_of_order_are_found(a_run: Callable[..., Run]) -> None:
    """A moment before one that it must follow is a bug of the client, and is reported as one."""
    run = a_run().answers(7, 12, usage=(1, 2))
    for stamps in OUT_OF_ORDER:
        run.answers(7, 12, **{"at_ms": 0, "usage": (1, 2), **stamps})
    (finding,) = [item for item in run.ends().report().findings if item.code == "stamps_out_of_order"]
    assert f"{len(OUT_OF_ORDER)} requests, such as request 2." in finding.message


def test_stamps_that_are_missing_break_no_order(a_run: Callable[..., Run]) -> None:
    """A failure that lacks the stamps in the middle is in order."""
    assert codes(a_run().answers(5, usage=(1, 1)).fails().ends()) == ["many_failures"]


def test_broken_life_cycles_are_found(a_run: Callable[..., Run]) -> None:
    """A request that ends twice, begins twice, never begins, is never sent or never ends is found."""
    run = a_run().answers(5, usage=(1, 1))
    run.answers(5, usage=(1, 1), uuid="twice").happens(EventType.CANCELLED, 9, "twice")
    run.answers(5, usage=(1, 1), uuid="again").happens(EventType.LOADGEN_ISSUE_CALLED, 0, "again")
    run.answers(5, usage=(1, 1), issue={"sent": -1})
    run.happens(EventType.ERROR, 5, "stranger", error="reset").issues()
    assert set(codes(run.ends())) >= {
        "ended_more_than_once",
        "issued_more_than_once",
        "never_issued",
        "completed_but_never_sent",
        "never_ended",
    }


def remedies(**changes: Any) -> dict[str, str]:
    """What is to be done about what is found, by its code."""
    return {finding.code: finding.remedy for finding in findings(replace(GOOD, **changes))}


@pytest.mark.parametrize("ended", ["interrupted", "cut_off"])
def test_only_a_counted_run_is_to_be_resumed(ended: str) -> None:
    """A run that only time ends is refused by `loadgen resume`: the remedy says so."""
    covered = "The results below cover the 60 completed requests. "
    short = counts(completed=60)
    assert remedies(ended=ended, counts=short)[ended] == f"{covered}Run `loadgen resume RUN` to finish."
    assert remedies(ended=ended, counts=short, resumable=False)[ended] == (
        f"{covered}A run that only --duration ends cannot be resumed: start a new one."
    )


@pytest.mark.parametrize(
    ("name", "message", "remedy"),
    [
        ("http_429", "slow down", "The server limits the rate: lower the load"),
        ("http_400", "This model's maximum context length is 4096 tokens", "Use shorter prompts"),
        ("http_400", "bad request", "`loadgen check` shows"),
        ("error_frame", "input exceeds context window", "Use shorter prompts"),
        (
            "malformed_frame",
            "the answer is a web page, 'Sign in', not",
            "that --url is the URL of the API",
        ),
        ("http_401", "no key", "Give a key that the server accepts"),
        ("refused", "no connection", "Check that the server is up"),
        ("client_bug", "oops", "`loadgen check` shows"),
    ],
)
def test_failures_have_their_own_remedies(name: str, message: str, remedy: str) -> None:
    """The most frequent failure decides, whether all requests failed or some."""
    every = counts(completed=0, failed=100, by_error={name: 100})
    assert remedy in remedies(counts=every, messages={name: message})["nothing_completed"]
    some = counts(completed=97, failed=3, by_error={name: 2, "reset": 1})
    code = "rate_limited" if name == "http_429" else "requests_failed"
    remedy_text = remedies(counts=some, messages={name: message})[code]
    assert remedy_text.endswith("GROUP BY ALL.")
    assert (remedy in remedy_text) == ("check" not in remedy)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"asked": 10, "prompts": 6}, "10 requests used 6 different prompts: some were sent twice."),
        ({"asked": 10, "prompts": 1}, "10 requests used one prompt: every request sent the same prompt."),
        (
            {"asked": 10, "turns": 20, "prompts": 1},
            "10 conversations (30 requests) used one: every request sent the same prompt.",
        ),
        (
            {"asked": 10, "turns": 20, "prompts": 3},
            "10 conversations (30 requests) used 3 different ones: most were sent more than once.",
        ),
    ],
)
def test_what_is_repeated_is_called_by_its_name(changes: dict[str, Any], message: str) -> None:
    """Prompts, or conversations, with the number of their requests."""
    (finding,) = [item for item in findings(replace(GOOD, **changes)) if item.code == "prompts_repeated"]
    assert finding.message == message


CONTENDED = ClientHealth(readings=1, cpu_wait_share_mean=0.22)
TTFT_IN_DOUBT: dict[str, Any] = {
    "bounds": {"ttft_ms": MetricBounds(64, summary(83.4), summary(84.7))},
    "reported": {"ttft_ms": summary(84.7)},
}


def test_cpu_contention_is_one_finding_with_its_effects() -> None:
    """The TTFT as an interval and the recorder's delay are in it, with one remedy."""
    slow = RecorderHealth(lost=0, longest_wait_ms=474.0)
    (finding,) = findings(replace(GOOD, client=CONTENDED, recorder=slow, **TTFT_IN_DOUBT))
    assert (finding.code, finding.severity, finding.effects) == (
        "cpu_contended",
        "warning",
        ["late_reads", "recorder_slow"],
    )
    assert finding.message == (
        "CPU contention: the client waited for a CPU 22 % of the time. "
        "The client read 64 of 100 first tokens late, so only ranges are known: TTFT p50 [83.4, 84.7] ms, "
        "TTFT p99 [83.4, 84.7] ms. A rule whose bound lies in such a range is INCONCLUSIVE. "
        "Events reached the disk up to 474 ms late; a kill can lose that much."
    )
    assert finding.remedy == KEEP_OFF


def test_cpu_contention_that_invalidates_is_one_error() -> None:
    """The error leads, with the cause first and all effects; it can be accepted, and is the only reason."""
    stalled = replace(CONTENDED, loop_lag_p50_ms=25.1, held_up_ms=9.0)
    behind = {"requests_behind": 90, "seconds_behind": 2, "seconds": 2}
    run = replace(GOOD, client=stalled, latency_ms=summary(100.0), **behind)
    (finding,) = findings(run)
    assert (finding.code, finding.severity, finding.acceptable) == ("client_limited", "error", True)
    assert finding.effects == ["cpu_contended", "rate_not_reached", "writer_behind"]
    assert finding.message.startswith("The client limited the run. CPU contention: the client waited")
    assert finding.remedy.count(KEEP_OFF) == 1
    assert validity([finding]).reasons == [finding.message]


def test_with_contention_the_interval_of_the_ttft_is_stated_however_small() -> None:
    """Without contention, less than 1 % is not worth a finding."""
    narrow = {**TTFT_IN_DOUBT, "bounds": {"ttft_ms": MetricBounds(1, summary(84.6), summary(84.7))}}
    assert findings(replace(GOOD, **narrow)) == []
    (finding,) = findings(replace(GOOD, client=CONTENDED, **narrow))
    assert "known: TTFT p50 [84.6, 84.7] ms" in finding.message


def test_findings_with_other_causes_stay_apart() -> None:
    """A slow disk, without contention, is a finding with its cause and remedy."""
    slow = RecorderHealth(lost=0, longest_wait_ms=474.0)
    both = findings(replace(GOOD, recorder=slow, **TTFT_IN_DOUBT))
    assert [finding.code for finding in both] == ["late_reads", "recorder_slow"]
    assert len({finding.remedy for finding in both}) == 2


def test_in_a_scored_run_contention_is_one_warning_that_latencies_are_invalid() -> None:
    """It leads, ends with what stands, once, and keeps its code for the validity."""
    stalled = replace(CONTENDED, loop_lag_p50_ms=25.1)
    behind = {"requests_behind": 90, "seconds_behind": 2, "seconds": 2}
    run = replace(GOOD, client=stalled, latency_ms=summary(100.0), has_questions=True, **behind)
    (finding,) = findings(run)
    assert (finding.code, finding.severity) == ("latencies_invalid", "warning")
    assert finding.effects == ["cpu_contended"]
    assert finding.message.startswith("CPU contention: ")
    assert finding.message.count("Scores stand") == 1
    assert finding.message.endswith("latencies and rates are not valid.")
    assert validity([finding]).latency_reasons == [finding.message]
