"""A report to change, and golden files to hold what is rendered against."""

from __future__ import annotations

from dataclasses import fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from reporter.client_health import ClientHealth, RecorderHealth, WorkerHealth
from reporter.report import Report, RequestCounts, Summary, ThroughputFigures, Tokens, Validity, Window
from reporter.run_facts import RunFacts
from rulesets.verdict import Verdict, VerdictRow
from tests.golden import check

if TYPE_CHECKING:
    from collections.abc import Callable

    from rulesets.verdict import Status

GOLDEN = Path(__file__).parent / "golden"


def summary(middle: float, spread: float = 1.2, count: int = 7435) -> Summary:
    """A distribution around a median: `spread` is how much higher p90 is."""
    return Summary(
        count=count,
        mean=middle * 1.02,
        std=middle * 0.1,
        min=middle * 0.8,
        p50=middle,
        p90=middle * spread,
        p95=middle * spread * 1.05,
        p99=middle * spread * 1.2,
        p999=middle * spread * 1.5,
        max=middle * spread * 1.7,
    )


GOOD = Report(
    run=RunFacts(
        session_id="4f0c6f0e6d0e4c8e9b6b7f5d0a3c2b1a",
        started_at="2026-03-01T09:30:00.125Z",
        ended="completed",
        model="meta-llama/Llama-3.1-8B-Instruct",
        url="http://127.0.0.1:8000/v1",
        protocol="chat",
        stream=True,
        load={"kind": "closed", "concurrency": 64, "rate": None},
        max_tokens=128,
        seed=0,
        dataset={"name": "gsm8k.jsonl", "sha256": "", "rows": 1319, "synthetic": False},
        timestamp_source="kernel",
        versions={"llm-loadgen": "0.1.0", "python": "3.11.7"},
        percentile_method="linear",
        tpot_mode="request_weighted",
    ),
    validity=Validity(valid=True, reasons=[]),
    counts=RequestCounts(
        scheduled=7435,
        issued=7435,
        completed=7435,
        failed=0,
        cancelled=0,
        in_flight=0,
        by_error={},
        warmup=64,
        reused=7371,
        retried=0,
    ),
    window=Window(kind="duration", duration_s=60.0, start_ns=1_000_000_000, end_ns=61_000_000_000),
    throughput=ThroughputFigures(qps=123.866666, output_tps=15859.266667, total_tps=31204.4),
    ttft_ms=summary(51.83, 1.4),
    ttfo_ms=summary(51.83, 1.4),
    ttfv_ms=summary(51.83, 1.4),
    ttfb_ms=summary(51.2, 1.4),
    tpot_ms=summary(7.98),
    itl_ms=summary(7.97, 1.3, count=944_245),
    latency_ms=summary(1068.0, 1.1),
    latency_from_schedule_ms=summary(1068.2, 1.1),
    ttft_from_schedule_ms=summary(51.9, 1.4),
    last_token_ms=summary(1067.9, 1.1),
    issue_lag_ms=summary(0.021, 3.0),
    send_lag_ms=summary(0.012, 4.0),
    connect_ms=summary(0.31, 2.0, count=64),
    tls_ms=summary(1.84, 2.0, count=64),
    dns_ms=None,
    own_ms=summary(0.033, 3.0),
    own_ttft_share=0.003,
    tokens=Tokens(input=920_707, output=951_680, source="server_usage"),
    recorder=RecorderHealth(
        events=29996,
        commits=2404,
        lost=0,
        high_water=312,
        slowest_commit_ms=3.125,
        longest_wait_ms=31.25,
    ),
    client=ClientHealth(
        readings=120,
        workers=2,
        loop_lag_p50_ms=0.031,
        loop_lag_max_ms=2.125,
        gc_pause_max_ms=4.125,
        cpu_share_mean=0.31,
        cpu_share_max=0.42,
        cpu_share_sum=0.7,
        cpu_wait_share_mean=0.004,
        cpu_wait_share_max=0.02,
        parent_cpu_share_mean=0.12,
        in_flight_max=64,
        backlog_events_max=312,
        held_up_ms=0.0,
        per_worker=[
            WorkerHealth(worker=worker, readings=60, cpu_share_mean=0.31 - worker / 50) for worker in (0, 1)
        ],
    ),
    findings=[],
)


@pytest.fixture(scope="session")
def a_report() -> Callable[..., Report]:
    """Make the report of a good run, with some fields changed, and fewer requests behind its figures."""

    def make(completed: int = GOOD.counts.completed, **changes: Any) -> Report:
        figures = {field.name: getattr(GOOD, field.name) for field in fields(Report)}
        fewer = {
            name: replace(figure, count=figure.count * completed // GOOD.counts.completed)
            for name, figure in figures.items()
            if isinstance(figure, Summary)
        }
        return replace(GOOD, **(fewer | changes))

    return make


@pytest.fixture(scope="session")
def a_rule() -> Callable[..., VerdictRow]:
    """Make a row of a verdict that passes, with some fields changed."""

    def make(target: str = "ttft:p(99)<500ms", **changes: Any) -> VerdictRow:
        passed = VerdictRow(
            id=target,
            target=target,
            observed=87.07,
            bound=500.0,
            unit="ms",
            n=7435,
            status="PASS",
            severity="fail",
            margin=0.82586,
            reason="",
            group="target",
            method="p99, linear",
        )
        return replace(passed, **changes)

    return make


@pytest.fixture(scope="session")
def a_verdict() -> Callable[..., Verdict]:
    """Make a verdict of some rows; lists of texts become tuples."""

    def make(status: Status, *rows: VerdictRow, **changes: Any) -> Verdict:
        texts = {name: tuple(value) if isinstance(value, list) else value for name, value in changes.items()}
        return replace(Verdict(status, "chat", "1", rows=rows), **texts)

    return make


@pytest.fixture(scope="session")
def every_kind(a_rule: Callable[..., VerdictRow], a_verdict: Callable[..., Verdict]) -> Verdict:
    """A verdict with a rule of each outcome, and hostile text in it."""
    hostile = "x|<b>&\x1b[31m\n::error::`boom` @team ##[error]y ](http://evil) \ud800\x00"
    return a_verdict(
        "INVALID",
        a_rule(
            "min_duration_s: 60",
            id="validity.min_duration_s",
            group="validity",
            method="issue span",
            observed=12.31,
            bound=60.0,
            unit="s",
            status="INVALID",
            margin=-0.7948,
            reason="the span of issuing = 12.31 s; required: >= 60 s",
            remedy="run with --duration 60",
        ),
        a_rule("ttft:p(99)<500ms", limit=499.96, method="p99, linear; order_stat, upper 95 %"),
        a_rule(
            "ttft:p(99)<2000ms@es99",
            id="ttft",
            observed=1712.3,
            bound=2000.0,
            n=500,
            status="INCONCLUSIVE",
            method="p99, loadgen_floor; early stopping, test, 99 %",
            reason="1 of 500 exceeds the bound, and of so few none may",
            remedy="about 662 requests would do",
        ),
        a_rule("tpot:p(90)<=20ms", observed=21.5, bound=20.0, status="FAIL", margin=-0.075, reason="21.5 ms"),
        a_rule("qps>=1!warn", observed=0.5, bound=1.0, unit="req/s", status="FAIL", severity="warn"),
        a_rule("itl:p(99)<1ms!info", observed=2.5, bound=1.0, status="FAIL", severity="info"),
        a_rule("ttfo:p(90)<1s", status="SKIP", observed=None, margin=None, n=0, reason="--skip ttfo"),
        a_rule(hostile, id=hostile, status="FAIL", reason=hostile, remedy=hostile, method=hostile),
        model="*",
        scenario="ci",
        reasons=["The client was late: " + hostile],
        overrides=["validity.min_duration_s: 600 -> 60"],
        notes=["the policy says 20", *(f"note {number}" for number in range(6))],
        source=["SLO 7", hostile],
    )


@pytest.fixture(scope="session")
def golden() -> Callable[[str, str], None]:
    """Compares a text with a golden file; `make golden` writes the file again."""
    return lambda name, text: check(GOLDEN / name, text)
