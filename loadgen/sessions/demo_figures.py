"""The figures of the demo next to the true ones of its mock endpoint."""

from __future__ import annotations

from statistics import median
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from loadgen.mock_endpoint.truth import Truth
    from reporter.report import Report

_MS: Final = 1e6


def compared_with_truth(report: Report, truth: Sequence[Truth]) -> Iterator[str]:
    """The reported medians of TTFT and TPOT and the true ones of the server, a line each."""
    measured = truth[report.counts.warmup :]
    ttft = [(request.chunk_ns[0] - request.received_ns) / _MS for request in measured if request.chunk_ns]
    tpot = [
        (request.chunk_ns[-1] - request.chunk_ns[0]) / (request.tokens - 1) / _MS
        for request in measured
        if request.tokens > 1 and request.chunk_ns
    ]
    for name, reported, true_ms in (("TTFT", report.ttft_ms, ttft), ("TPOT", report.tpot_ms, tpot)):
        yield _line(name, reported, median(true_ms))


def _line(name: str, reported: Any, true: float) -> str:
    p50 = reported.p50 if reported is not None else float("nan")
    return f"    {name}   reported {p50:8.3f}   true {true:8.3f}   difference {p50 - true:+.3f}"
