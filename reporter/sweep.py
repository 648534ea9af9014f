"""What several runs amount to beside each other: throughput against interactivity, its front and its knee."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reporter.report import Report, Summary

OVERLOADED = "overloaded"
"""The code of the finding that the endpoint could not keep up with an open loop."""

LEAST_SPAN = 0.05
"""Of either figure's best: a front that spans less has no shape to speak of."""

_FEWEST = 3
"""Points that a bend needs."""


@dataclass(frozen=True, slots=True)
class Figures:
    """A run in a row of a table. A figure without samples is None, never 0.

    Attributes:
        qps: Completed requests a second.
        output_tps: Output tokens a second, of all users together: the throughput.
        total_tps: Input and output tokens a second.
        user_tps: Tokens a second that one user sees stream, 1000 / the median TPOT: the interactivity.
        requests: Measured requests issued.
        failed: Those that failed or were cancelled.
        error_rate: Their share of those that ended.
        overloaded: Whether the endpoint could not keep up with the rate.
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


@dataclass(frozen=True, slots=True)
class Spot:
    """Where a run lies on the plane: throughput (output tokens/s) against interactivity (tokens/s a user)."""

    name: str
    output_tps: float
    user_tps: float


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
    )


def front(spots: Sequence[Spot]) -> list[Spot]:
    """The Pareto front, by rising interactivity.

    On it are the spots that no other beats in one figure and ties or beats in the other. Of several at the
    same place the first stands for all.
    """
    kept: list[Spot] = []
    for spot in sorted(spots, key=lambda one: (-one.user_tps, -one.output_tps)):
        if not kept or spot.output_tps > kept[-1].output_tps:
            kept.append(spot)
    return kept[::-1]


def knee(spots: Sequence[Spot]) -> Spot | None:
    """Where the front bends most: beyond it, more throughput costs each user more than it is worth before it.

    The front is scaled to the unit square, and the knee is its spot farthest outside the chord between its
    two ends. This is the Kneedle method (Satopää, Albrecht, Irwin, Raghavan: Finding a "Kneedle" in a
    Haystack, ICDCSW 2011) for points that are few enough to need no smoothing.

    Returns:
        None where the front has fewer than three spots, spans too little, or has none outside the chord.
    """
    line = front(spots)
    if len(line) < _FEWEST:
        return None
    first, last = line[0], line[-1]
    wide, high = last.user_tps - first.user_tps, first.output_tps - last.output_tps
    if wide < LEAST_SPAN * last.user_tps or high < LEAST_SPAN * first.output_tps:
        return None

    def outside(spot: Spot) -> float:
        return (spot.user_tps - first.user_tps) / wide + (spot.output_tps - last.output_tps) / high - 1

    best = max(line[1:-1], key=outside)
    return best if outside(best) > 0 else None


def _p50(summary: Summary | None) -> float | None:
    return None if summary is None else summary.p50


def _p99(summary: Summary | None) -> float | None:
    return None if summary is None else summary.p99
