"""What the reporter tells beside the figures, and what of it makes a run invalid."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from recorder import EventType
from reporter.client_limits import FEWEST, OWN_FAILURES
from reporter.evidence import Evidence, Violation
from reporter.findings import findings, validity
from reporter.own_delay import OwnDelay, OwnPart
from reporter.report import Counts, Finding, Summary

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.reporter.conftest import Run

GOOD = Evidence(
    ended="completed",
    load={"kind": "poisson", "rate": 50.0},
    counts=Counts(100, 100, 100, 0, 0, 0, {}, 0),
    token_sources={"server_usage": 100, "client_tokenizer": 0, "chunks": 0, "unknown": 0},
    scheduled_span_ns=2_000_000_000,
    issued_span_ns=2_000_000_000,
    chunks=1000,
    coalesced=0,
    recorder={"lost": 0, "longest_wait_ms": 30.0},
)


def summary(figure: float) -> Summary:
    """A distribution that is all one figure."""
    return Summary(100, figure, 0, figure, figure, figure, figure, figure, figure, figure)


def found(**changes: Any) -> dict[str, str]:
    """Codes and severities of what is found when the evidence of a good run is changed."""
    return {finding.code: finding.severity for finding in findings(replace(GOOD, **changes))}


def counts(**changes: Any) -> Counts:
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
        ({"counts": Counts(0, 0, 0, 0, 0, 0, {}, 3)}, {"nothing_issued": "error"}),
        (
            {"counts": counts(completed=0, failed=100, by_error={"reset": 100})},
            {"nothing_completed": "error"},
        ),
        ({"counts": counts(completed=99, failed=1, by_error={"reset": 1})}, {"requests_failed": "warning"}),
        ({"counts": counts(completed=95, failed=5, by_error={"reset": 5})}, {"requests_failed": "warning"}),
        ({"counts": counts(completed=94, failed=6, by_error={"reset": 6})}, {"many_failures": "warning"}),
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
        ({"client": {"loop_lag_p50_ms": 10.0}, "latency_ms": summary(100.0)}, {}),
        (
            {"client": {"loop_lag_p50_ms": 10.1}, "latency_ms": summary(100.0), "load": {"kind": "closed"}},
            {"client_stalled": "warning"},
        ),
        ({"client": {"loop_lag_p50_ms": 25.1}, "latency_ms": summary(100.0)}, {"client_limited": "error"}),
        ({"client": {"loop_lag_max_ms": 501.0}, "latency_ms": summary(100.0)}, {"client_stalled": "warning"}),
        ({"client": {"loop_lag_max_ms": 501.0}, "latency_ms": summary(600.0)}, {}),
        ({"client": {"cpu_share_mean": 0.7}}, {}),
        ({"client": {"cpu_share_mean": 0.71}}, {"client_busy": "warning"}),
        ({"client": {"cpu_share_mean": 0.91}}, {"client_limited": "error"}),
        ({"client": {"cpu_share_mean": 0.95}, "load": {"kind": "closed"}}, {"client_limited": "error"}),
        ({"client": {"cpu_share_mean": 0.6, "cpu_share_sum": 1.8}, "usable_cpus": 2}, {}),
        (
            {"client": {"cpu_share_mean": 0.6, "cpu_share_sum": 1.81}, "usable_cpus": 2},
            {"client_limited": "error"},
        ),
        ({"client": {"cpu_share_mean": 0.6, "cpu_share_sum": 1.81}, "usable_cpus": None}, {}),
        ({"client": {"cpu_wait_share_mean": 0.1, "cpu_wait_share_max": 0.9}}, {}),
        ({"client": {"cpu_wait_share_mean": 0.11}}, {"cpu_contended": "warning"}),
        (
            {"client": {"cpu_wait_share_mean": 0.5, "cpu_share_sum": 1.9}, "usable_cpus": 2},
            {"client_limited": "error"},
        ),
        ({"client": {"held_up_ms": 0.0, "backlog_events_max": 9}}, {}),
        ({"client": {"held_up_ms": 0.1}}, {"writer_behind": "warning"}),
        ({"counts": counts(retried=1)}, {"stale_connections": "info"}),
        ({"prompts": 100, "asked": 100}, {}),
        ({"prompts": 99, "asked": 100}, {"prompts_repeated": "info"}),
        ({"recorder": {"longest_wait_ms": 100.0}}, {}),
        ({"recorder": {"longest_wait_ms": 100.1}}, {"recorder_slow": "warning"}),
        ({"coalesced": 100}, {}),
        ({"coalesced": 101}, {"coalesced_reads": "info"}),
        ({"violations": (Violation("stamps_out_of_order", 2, "a"),)}, {"stamps_out_of_order": "error"}),
    ],
)
def test_what_is_wrong_is_found(changes: dict[str, Any], expected: dict[str, str]) -> None:
    """Each thing that can be wrong is found by itself, with its severity."""
    assert found(**changes) == expected


NONE = OwnPart(0.0, 50.0)


def own(p99: OwnPart, p50: OwnPart = NONE, count: int = FEWEST) -> OwnDelay:
    """What the client took of the time to the first token, at the p99 and at the median."""
    return OwnDelay(count, p50, p99)


@pytest.mark.parametrize("kind", ["constant", "poisson", "closed"])
@pytest.mark.parametrize(
    ("delay", "expected"),
    [
        (own(OwnPart(5.0, 100.0)), {}),
        (own(OwnPart(5.1, 100.0)), {"client_late": "warning"}),
        (own(OwnPart(10.0, 100.0)), {"client_late": "warning"}),
        (own(OwnPart(10.1, 100.0)), {"client_limited": "error"}),
        (own(OwnPart(1.0, 2.0)), {}),
        (own(OwnPart(1.1, 2.0)), {"client_limited": "error"}),
        (own(OwnPart(0.0, 0.0)), {}),
        (own(OwnPart(90.0, 100.0), OwnPart(1.0, 5.0), FEWEST - 1), {"client_late": "warning"}),
        (own(OwnPart(90.0, 100.0), OwnPart(1.1, 5.0), FEWEST - 1), {"client_limited": "error"}),
        (own(OwnPart(0.0, 100.0), OwnPart(9.0, 10.0), FEWEST - 1), {}),
    ],
)
def test_the_clients_own_share_has_a_limit(kind: str, delay: OwnDelay, expected: dict[str, str]) -> None:
    """More than 10 % and 1 ms of the TTFT's p99 are too much; below 100 requests the median must agree."""
    assert found(load={"kind": kind}, own=delay) == expected


def test_offline_nobody_can_be_in_time() -> None:
    """A load that is due all at once has lateness in it by its nature."""
    assert found(load={"kind": "offline"}, own=own(OwnPart(90.0, 100.0))) == {}


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"counts": counts(scheduled=106)}, {}),
        ({"counts": counts(scheduled=107)}, {"rate_not_reached": "error"}),
        ({"counts": counts(scheduled=200), "ended": "interrupted"}, {"interrupted": "error"}),
        ({"issued_span_ns": 2_100_000_000}, {}),
        ({"issued_span_ns": 2_110_000_000}, {"rate_not_reached": "error"}),
        ({"issued_span_ns": 2_110_000_000, "load": {"kind": "closed", "rate": None}}, {}),
        ({"counts": Counts(5, 4, 4, 0, 0, 0, {}, 0)}, {}),
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
    assert found(**changes) == expected


def test_messages_have_the_facts_and_what_to_do() -> None:
    """The biggest classes of failures are named with their numbers, the rest together; there is a remedy."""
    errors = {"reset": 4, "http_429": 9, "dns": 1, "tls": 2, "truncated": 1}
    (finding,) = findings(replace(GOOD, counts=counts(completed=83, failed=17, by_error=errors)))
    assert "17 of 100 requests failed (17.0%): 9 http_429, 4 reset, 2 tls, 2 others" in finding.message
    assert "error_message" in finding.remedy


def test_the_worker_that_limits_is_named() -> None:
    """Of several workers, the one whose figure is the worst is told by its number."""
    workers = [{"worker": 0, "cpu_share_mean": 0.2}, {"worker": 1, "cpu_share_mean": 0.95}]
    client = {"cpu_share_mean": 0.95, "workers": 2, "per_worker": workers}
    (finding,) = findings(replace(GOOD, client=client))
    assert "its worker 1 used 95% of a core" in finding.message


@pytest.mark.parametrize(
    ("workers", "usable", "expected"),
    [(4, 4, "start it with --workers 3."), (2, 4, "lower the rate"), (1, 1, "lower the rate")],
)
def test_a_writer_that_falls_behind_needs_a_cpu(workers: int, usable: int, expected: str) -> None:
    """Where the workers take every CPU, one fewer leaves one to the writer."""
    client = {"held_up_ms": 250.0, "backlog_events_max": 4096, "workers": workers}
    (finding,) = findings(replace(GOOD, client=client, usable_cpus=usable))
    assert "held up for 250 ms in all, while up to 4096 events" in finding.message
    assert expected in finding.remedy


def test_each_failure_of_our_own_has_its_remedy() -> None:
    """What is to be done is told for the failures that happened, and for no others."""
    errors = {"client_limit": 1, "worker_lost": 20}
    (finding, _) = findings(replace(GOOD, counts=counts(completed=79, failed=21, by_error=errors)))
    assert finding.remedy == f"{OWN_FAILURES['client_limit']} {OWN_FAILURES['worker_lost']}"


def test_errors_come_first_and_make_the_run_invalid() -> None:
    """The run is invalid for the errors, each a reason, and for nothing else."""
    logged = (Finding("hint", "info", "by the way"), Finding("clock", "error", "the clock was stepped"))
    evidence = replace(GOOD, logged=logged, ended="interrupted", recorder={"longest_wait_ms": 500.0})
    all_found = findings(evidence)
    assert [finding.code for finding in all_found] == ["interrupted", "clock", "recorder_slow", "hint"]
    assert validity(all_found).reasons == [finding.message for finding in all_found[:2]]


# The evidence that a log gives…


def codes(run: Run) -> list[str]:
    """What is found in a run."""
    return [finding.code for finding in run.report().findings]


def test_findings_of_the_log_are_repeated(a_run: Callable[..., Run]) -> None:
    """What the load generator found while it ran stands in the report, an unknown severity as a warning."""
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
    """Only where the server sent no usage it is said that chunks were counted."""
    assert codes(a_run().answers(5, 6, usage=usage).ends()) == ([] if usage else ["tokens_from_chunks"])


def test_a_warm_up_without_usage_is_no_matter(a_run: Callable[..., Run]) -> None:
    """What is not measured does not qualify the figures."""
    run = a_run().answers(5, 6, issue={"phase": "warmup"}).answers(5, 6, usage=(1, 2)).ends()
    assert codes(run) == []


def test_a_slow_client_is_found_in_its_log(a_run: Callable[..., Run]) -> None:
    """Requests that are issued later and later break the rate and the lateness rule."""
    run = a_run(kind="constant", rate=100.0)
    for n in range(20):
        run.answers(20.0 * n + 5, at=20.0 * n, issue={"scheduled": 10.0 * n}, usage=(1, 1))
    assert codes(run.stops(400).ends()) == ["client_limited", "rate_not_reached"]


@pytest.mark.parametrize(
    ("late_ms", "expected"), [(0, []), (50, []), (400, ["client_late", "rate_not_reached"])]
)
def test_a_burst_that_was_not_held_is_found(
    a_run: Callable[..., Run], late_ms: float, expected: list[str]
) -> None:
    """Held on average, a rate is not held where its height was levelled; a small delay is no matter."""
    run = a_run(kind="constant", rate=None, profile="bursts:10,100,2s,1s").begins(duration_s=6)
    for second in range(6):
        number = 100 if second % 2 else 10
        for k in range(number):
            due = 1000 * (second + k / number)
            at = due + (late_ms * k / number if second % 2 else 0)
            run.answers(at + 5000, at=at, issue={"scheduled": due, "sent": at}, usage=(1, 1))
    assert sorted(codes(run.stops(6000).ends(12000))) == expected


def test_later_turns_do_not_say_whether_a_rate_was_held(a_run: Callable[..., Run]) -> None:
    """When a turn is due follows from the answer before it, so that its lateness is not the schedule's."""
    run = a_run(kind="constant", rate=2.0)
    for k in range(4):
        run.answers(500 * k + 5, at=500 * k, issue={"scheduled": 500 * k, "turn": 0}, usage=(1, 1))
    for k in range(4):
        run.answers(9000 * k + 5, at=9000 * k, issue={"scheduled": 9000 * k, "turn": 1}, usage=(1, 1))
    assert codes(run.stops(2000).ends(40000)) == []


def test_a_failure_quotes_what_was_said(a_run: Callable[..., Run]) -> None:
    """Of the most frequent failure, the first message stands in the finding."""
    run = a_run().answers(5, usage=(1, 1))
    for message in ("no such model", "another"):
        run.fails(error="http_404", message=message)
    run.fails(error="reset", message="gone")
    (finding,) = run.ends().report().findings
    assert finding.message.endswith("For example, http_404: no such model")


def test_coalesced_reads_are_found_in_the_log(a_run: Callable[..., Run]) -> None:
    """Reads with several chunks are held against the chunks of all completed requests."""
    run = a_run().answers(5, 6, 7, 8, usage=(1, 4), coalesced=1).ends()
    assert codes(run) == ["coalesced_reads"]


@pytest.mark.parametrize(
    "stamps",
    [
        {"at": 3, "issue": {"scheduled": 4}},
        {"at": 3, "issue": {"sent": 2}},
        {"first_byte_ns": 5_000_000_000_008_000_000},
        {"first_byte_ns": 4_999_999_999_999_000_000},
        {"first_output_ns": 5_000_000_000_006_000_000},
        {"last_token_ns": 5_000_000_000_006_000_000},
        {"complete": 11},
    ],
)
def test_stamps_out_of_order_are_found(a_run: Callable[..., Run], stamps: dict[str, Any]) -> None:
    """A moment before one that it must follow is a bug of ours, and is told as one."""
    run = a_run().answers(7, 12, **{"at": 0, "usage": (1, 2), **stamps}).ends()
    assert "stamps_out_of_order" in codes(run)


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
