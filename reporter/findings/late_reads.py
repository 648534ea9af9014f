"""Whether chunks were read so late that figures are uncertain, and by how much."""

from __future__ import annotations

from math import floor, log10
from typing import TYPE_CHECKING, Final

from reporter.findings.remedies import relief
from reporter.report import Finding
from rulesets.request_metrics import REQUEST_METRICS

if TYPE_CHECKING:
    from reporter.findings.check_inputs import Check, CheckInputs
    from reporter.report import MetricBounds, Summary

NOTEWORTHY: Final = 0.01
"""The uncertainty of a figure, as a share, from which it is reported."""

_LABELS: Final = {
    metric.column: metric.label if metric.label.isupper() else metric.label.lower()
    for metric in REQUEST_METRICS
    if metric.console is not None and metric.console.headline
}
_PERCENTILES: Final = ("p50", "p99")


def _late_reads(evidence: CheckInputs) -> Finding | None:
    doubtful: list[str] = []
    for name, label in _LABELS.items():
        bounds, reported = evidence.bounds.get(name), evidence.reported.get(name)
        if bounds is not None and reported is not None:
            doubtful += _in_words(label, reported, bounds)
    if not doubtful:
        return None
    first = evidence.bounds.get("ttft_ms")
    late = first.late if first is not None and first.late else 0
    who = f"{late} of {evidence.counts.completed} first tokens were" if late else "Chunks were"
    return Finding(
        "late_reads",
        "warning",
        f"{who} read late, together with what followed them, and arrived before their stamps: "
        f"{'; '.join(doubtful)}.",
        f"Rules take both ends of these intervals into account. {relief(evidence)}",
    )


def _in_words(label: str, reported: Summary, bounds: MetricBounds) -> list[str]:
    """The figures of a metric that are in doubt by more than is negligible."""
    figures = []
    for name in _PERCENTILES:
        value, low, high = (getattr(summary, name) for summary in (reported, bounds.low, bounds.high))
        if high - low > NOTEWORTHY * value:
            # The last decimal shows the difference between the ends.
            decimals = max(1, 1 - floor(log10(high - low)))
            shown = [f"{figure:.{decimals}f}" for figure in (value, low, high)]
            figures.append("{} is {} ms and could be {} to {} ms".format(name, *shown))
    return [f"{label} {', '.join(figures)}"] if figures else []


CHECKS: Final[tuple[Check, ...]] = (_late_reads,)
