"""A report to judge."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from reporter.client_health import ClientHealth, RecorderHealth
from reporter.report import Report, RequestCounts, Summary, ThroughputFigures, Tokens, Validity, Window
from reporter.run_facts import RunFacts

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


def _summary(scale: float, count: int) -> Summary:
    """Make a distribution whose statistics are all different, in ms."""
    return Summary(
        count=count,
        mean=scale * 1.1,
        std=scale,
        min=scale * 0.5,
        p50=scale * 1.0,
        p90=scale * 1.9,
        p95=scale * 1.95,
        p99=scale * 1.99,
        p999=scale * 1.999,
        max=scale * 2.0,
    )


def _report(
    *,
    latency_ms: float | None = 100.0,
    rate: float | None = 10.0,
    completed: int = 99,
    failed: int = 1,
    cancelled: int = 0,
    in_flight: int = 0,
    duration_s: float | None = 60.0,
    reasons: list[str] | None = None,
) -> Mapping[str, Any]:
    """Make a report of a run with one latency scale and one rate everywhere."""
    issued = completed + failed + cancelled + in_flight
    summary = None if latency_ms is None else _summary(latency_ms, completed)
    latencies = [name for name in Report.__dataclass_fields__ if name.endswith("_ms")]
    report = Report(
        run=RunFacts("", "", ""),
        validity=Validity(valid=not reasons, reasons=reasons or []),
        counts=RequestCounts(issued, issued, completed, failed, cancelled, in_flight, {}, 0),
        window=Window("requests", duration_s, 0, 1),
        throughput=ThroughputFigures(rate, rate, rate),
        tokens=Tokens(None, None, None),
        recorder=RecorderHealth(),
        client=ClientHealth(),
        findings=[],
        **dict.fromkeys(latencies, summary),
    )
    return {**report.to_dict(), "run": {}}


@pytest.fixture(scope="session")
def make_report() -> Callable[..., Mapping[str, Any]]:
    """Give the maker of reports."""
    return _report
