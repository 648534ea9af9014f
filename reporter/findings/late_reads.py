"""Whether chunks were read so late that figures are uncertain, and by how much."""

from __future__ import annotations

from math import floor, log10
from typing import TYPE_CHECKING, Final

from reporter.findings.remedies import is_contended, relief
from reporter.report import Finding
from rulesets.request_metrics import REQUEST_METRICS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from reporter.findings.check_inputs import CheckInputs
    from reporter.report import MetricBounds, Summary

NOTEWORTHY: Final = 0.01
"""The uncertainty of a figure, as a share, above which it is reported."""

_LABELS: Final = {
    metric.column: metric.label if metric.label.isupper() else metric.label.lower()
    for metric in REQUEST_METRICS
    if metric.console is not None and metric.console.headline
}
_PERCENTILES: Final = ("p50", "p99")


def check(evidence: CheckInputs) -> Finding | None:
    """Find figures that are only known as ranges; with CPU contention, the TTFT however small its range."""
    doubtful: list[tuple[str, str]] = []
    for name, label in _LABELS.items():
        bounds, reported = evidence.bounds.get(name), evidence.reported.get(name)
        if bounds is not None and reported is not None:
            least = 0.0 if name == "ttft_ms" and is_contended(evidence) else NOTEWORTHY
            doubtful += _ranges(label, reported, bounds, least)
    if not doubtful:
        return None
    first = evidence.bounds.get("ttft_ms")
    late = first.late if first is not None and first.late else 0
    what = f"{late} of {evidence.counts.completed} first tokens" if late else "chunks"
    return Finding(
        "late_reads",
        "warning",
        f"The client read {what} late, so {_in_words(doubtful)}. "
        "A rule whose bound lies in such a range is INCONCLUSIVE.",
        relief(evidence),
    )


def _in_words(ranges: Sequence[tuple[str, str]]) -> str:
    (first, first_range), *others = ranges
    return f"{first} is only known to be {first_range}" + "".join(f", {name} {ends}" for name, ends in others)


def _ranges(label: str, reported: Summary, bounds: MetricBounds, least: float) -> Iterator[tuple[str, str]]:
    """The figures of a metric whose range is wider than the share `least` of them, each with its range."""
    for name in _PERCENTILES:
        value, low, high = (getattr(summary, name) for summary in (reported, bounds.low, bounds.high))
        if high - low > least * value:
            # The last decimal shows the difference between the ends.
            decimals = max(1, 1 - floor(log10(high - low)))
            yield f"{label} {name}", f"{low:.{decimals}f}–{high:.{decimals}f} ms"  # noqa: RUF001
