"""What the reporter tells beside the figures, and what of it makes a run invalid."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from recorder import EventType
from reporter.evidence import Evidence, Violation
from reporter.findings import findings, validity
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
        ({"token_sources": {"chunks": 100}}, {"tokens_from_chunks": "warning"}),
        (
            {"token_sources": {"server_usage": 60, "client_tokenizer": 40}},
            {"mixed_token_sources": "warning"},
        ),
        ({"token_sources": {"server_usage": 99, "unknown": 1}}, {"tokens_unknown": "warning"}),
        ({"recorder": {"lost": 1}}, {"events_lost": "error"}),
        (
            {"counts": counts(completed=99, failed=1, by_error={"client_limit": 1})},
            {"requests_failed": "warning"},
        ),
        (
            {"counts": counts(completed=98, failed=2, by_error={"client_limit": 1, "client_bug": 1})},
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
        ({"prompts": 100}, {}),
        ({"prompts": 99}, {"prompts_repeated": "info"}),
        ({"prompts": 100, "counts": counts(warmup=1)}, {"prompts_repeated": "info"}),
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


@pytest.mark.parametrize(
    ("kind", "ttft", "latency", "lag", "expected"),
    [
        ("constant", 5.0, 50.0, 1.0, {}),
        ("constant", 5.0, 50.0, 1.1, {"issue_lag": "warning"}),
        ("constant", 5.0, 50.0, 5.0, {"issue_lag": "warning"}),
        ("constant", 5.0, 50.0, 5.1, {"client_limited": "error"}),
        ("poisson", 200.0, 500.0, 20.0, {}),
        ("poisson", 200.0, 500.0, 20.1, {"issue_lag": "warning"}),
        ("poisson", 200.0, 500.0, 100.1, {"client_limited": "error"}),
        ("poisson", None, 500.0, 50.0, {}),
        ("poisson", None, 500.0, 50.1, {"issue_lag": "warning"}),
        ("poisson", None, 500.0, 250.1, {"client_limited": "error"}),
        ("closed", 5.0, 50.0, 900.0, {}),
        ("offline", 5.0, 50.0, 900.0, {}),
    ],
)
def test_lateness_is_held_against_what_is_measured(
    kind: str, ttft: float | None, latency: float, lag: float, expected: dict[str, str]
) -> None:
    """A late client is a matter where there is a schedule, by how late it is beside the median TTFT."""
    late = found(
        load={"kind": kind, "rate": 50.0},
        ttft_ms=None if ttft is None else summary(ttft),
        latency_ms=summary(latency),
        issue_lag_ms=summary(lag),
    )
    assert late == expected


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


def test_errors_come_first_and_make_the_run_invalid() -> None:
    """The run is invalid for the errors, each a reason, and for nothing else."""
    logged = (Finding("hint", "info", "by the way"), Finding("clock", "error", "the clock was stepped"))
    evidence = replace(GOOD, logged=logged, recorder={"lost": 3, "longest_wait_ms": 500.0})
    all_found = findings(evidence)
    assert [finding.code for finding in all_found] == ["events_lost", "clock", "recorder_slow", "hint"]
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
    assert codes(a_run().answers(5, usage=(1, 1)).fails().ends()) == ["requests_failed"]


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
