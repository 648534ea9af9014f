"""A run as one row of a table of several: its throughput, its latencies, with their uncertainty."""

from __future__ import annotations

import math
from statistics import fmean
from typing import TYPE_CHECKING, Final

from lazy_dataclasses import dataclass
from reporter.run_facts import OVERLOADED
from rulesets.statistics.batch_means import FEWEST, grouped, interval

if TYPE_CHECKING:
    from reporter.report import Report, Summary

_LEVEL: Final = 0.95
_MOST_BLOCKS: Final = 20
_SLACK_S: Final = 1e-6
_LATENCIES_A_BLOCK: Final = 2
"""A block of the window is at least as long as this many requests take, one after the other."""

_OF_A_MEDIAN: Final = 1.96 * math.sqrt(math.pi / 2)
"""The half width of the 95 % interval of a median, in standard errors of the mean: the median of n normal
values varies by sqrt(pi / 2) as much as their mean does (H. Cramér, Mathematical Methods of Statistics, 1946,
section 28.5)."""


@dataclass(frozen=True, slots=True)
class Figures:
    """A run in a row of a table. A figure without samples is None, never 0.

    Attributes:
        output_tps: Output tok/s, of all users together: the throughput.
        user_tps: The tok/s that one user sees stream, 1000 / the median TPOT: the interactivity.
        failed: Those that failed or were cancelled.
        error_rate: Their share of those that ended.
        output_tps_margin: The half width of the 95 % interval of `output_tps`; None where it is not known.
        ttft_p50_margin_ms: The same of `ttft_p50_ms`.
        tpot_p50_margin_ms: The same of `tpot_p50_ms`.
    """

    qps: float | None
    output_tps: float | None
    total_tps: float | None
    user_tps: float | None
    ttft_p50_ms: float | None
    ttft_p99_ms: float | None
    tpot_p50_ms: float | None
    tpot_p99_ms: float | None
    latency_p50_ms: float | None
    latency_p99_ms: float | None
    requests: int
    failed: int
    error_rate: float | None
    overloaded: bool
    output_tps_margin: float | None = None
    ttft_p50_margin_ms: float | None = None
    tpot_p50_margin_ms: float | None = None


def figures(report: Report) -> Figures:
    """The row of a run."""
    counts, rates = report.counts, report.throughput
    failed = counts.failed + counts.cancelled
    ended = counts.completed + failed
    tpot_p50_ms = _p50(report.tpot_ms)
    return Figures(
        qps=rates.qps,
        output_tps=rates.output_tps,
        total_tps=rates.total_tps,
        user_tps=1e3 / tpot_p50_ms if tpot_p50_ms else None,
        ttft_p50_ms=_p50(report.ttft_ms),
        ttft_p99_ms=_p99(report.ttft_ms),
        tpot_p50_ms=tpot_p50_ms,
        tpot_p99_ms=_p99(report.tpot_ms),
        latency_p50_ms=_p50(report.latency_ms),
        latency_p99_ms=_p99(report.latency_ms),
        requests=counts.issued,
        failed=failed,
        error_rate=failed / ended if ended else None,
        overloaded=any(finding.code == OVERLOADED for finding in report.findings),
        output_tps_margin=_throughput_margin(report),
        ttft_p50_margin_ms=_median_margin(report.ttft_ms),
        tpot_p50_margin_ms=_median_margin(report.tpot_ms),
    )


def _throughput_margin(report: Report) -> float | None:
    """How far the throughput may be off, by batch means over the window (`rulesets.statistics.batch_means`).

    Returns:
        None where the window has too little in it to be cut into blocks.
    """
    window_s, latency = report.window.duration_s, report.latency_ms
    moments = [
        moment
        for moment in report.over_time
        if window_s is not None
        and moment.start_s >= 0
        and moment.start_s + moment.duration_s <= window_s + _SLACK_S
    ]
    if not moments or latency is None:
        return None
    least_s = _LATENCIES_A_BLOCK * latency.p50 / 1e3
    size = max(-(-len(moments) // _MOST_BLOCKS), math.ceil(least_s / moments[0].duration_s))
    blocks = [
        fmean(moment.output_tps for moment in moments[first : first + size])
        for first in range(0, len(moments) - size + 1, size)
    ]
    if len(blocks) < FEWEST:
        return None
    confidence = interval(grouped(blocks), _LEVEL)
    return None if confidence is None else confidence.half_width


def _median_margin(summary: Summary | None) -> float | None:
    """How far a median may be off, as if requests were independent of each other."""
    if summary is None or summary.std is None:
        return None
    return _OF_A_MEDIAN * summary.std / math.sqrt(summary.count)


def _p50(summary: Summary | None) -> float | None:
    return None if summary is None else summary.p50


def _p99(summary: Summary | None) -> float | None:
    return None if summary is None else summary.p99
