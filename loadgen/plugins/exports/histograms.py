"""The distributions of a run as histograms: the metrics of generative AI clients of OpenTelemetry.

Names, units and boundaries: https://opentelemetry.io/docs/specs/semconv/gen-ai/gen-ai-metrics/ (1.37). They
count the completed requests that are measured, as the report does.
"""

from __future__ import annotations

from bisect import bisect_left
from typing import TYPE_CHECKING, Final

from lazy_dataclasses import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from reporter.log.database import OpenLog

_DURATION: Final = (0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92)
_FIRST: Final = (
    *(0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1.0, 2.5, 5.0, 7.5, 10.0),
)
_EACH: Final = (0.01, 0.025, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.75, 1.0, 2.5)
_TOKENS: Final = tuple(4.0**power for power in range(14))
_AT_ONCE: Final = 10_000

_SAMPLES: Final = "SELECT {value}, 1 FROM samples WHERE measured AND status = 'completed'"


@dataclass(frozen=True, slots=True)
class BucketHistogram:
    """A distribution in buckets.

    Attributes:
        unit: In UCUM.
        bounds: The upper ends of all buckets but the last, which has none; inclusive.
        attributes: What sets it apart from others of the same metric.
    """

    name: str
    unit: str
    bounds: tuple[float, ...]
    counts: tuple[int, ...]
    count: int
    total: float
    low: float
    high: float
    attributes: Mapping[str, str]


_METRICS: Final = (
    ("gen_ai.client.operation.duration", "s", _DURATION, {}, _SAMPLES.format(value="latency_ms / 1e3")),
    ("gen_ai.client.operation.time_to_first_chunk", "s", _FIRST, {}, _SAMPLES.format(value="ttft_ms / 1e3")),
    (
        *("gen_ai.client.operation.time_per_output_chunk", "s", _EACH, {}),
        "SELECT value / 1e3, weight FROM gap_counts",
    ),
    *(
        (
            *("gen_ai.client.token.usage", "{token}", _TOKENS, {"gen_ai.token.type": kind}),
            _SAMPLES.format(value=f"{kind}_tokens"),
        )
        for kind in ("input", "output")
    ),
)
"""Name, unit, boundaries, attributes, and the values with how often each occurs."""


def histograms(log: OpenLog) -> Iterator[BucketHistogram]:
    """The distributions of a run that have any values."""
    for name, unit, bounds, attributes, query in _METRICS:
        counts, count, total = [0] * (len(bounds) + 1), 0, 0.0
        low, high = float("inf"), float("-inf")
        rows = log.execute(f"SELECT * FROM ({query}) AS pairs(value, weight) WHERE value IS NOT NULL")  # noqa: S608 (our own names)
        while batch := rows.fetchmany(_AT_ONCE):
            for value, weight in batch:
                counts[bisect_left(bounds, value)] += weight
                count, total = count + weight, total + value * weight
                low, high = min(low, value), max(high, value)
        if count:
            yield BucketHistogram(name, unit, bounds, tuple(counts), count, total, low, high, attributes)
