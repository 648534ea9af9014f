"""The opening figures of a page, with intervals: throughput, TTFT, TPOT, latency and failures."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from reporter.compare.compared_figure import figure
from reporter.compare.compared_metric import metric

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rulesets.evidence import Evidence

LEVEL: Final = 0.95
"""Of the intervals."""

MEASURED: Final = (
    *("output_tps", "qps", "ttft:p(50)", "ttft:p(99)", "tpot:p(50)", "tpot:p(99)", "itl:p(50)", "itl:p(99)"),
    *("latency:p(50)", "latency:p(99)", "error"),
)
"""The figures of a page, as `loadgen compare --metric` names them."""


@dataclass(frozen=True, slots=True)
class HeadlineValue:
    """A figure with a 95 % interval.

    Attributes:
        value: In the metric's unit.
        low: The lower end; None where the run is too short for one.
        high: The upper end.
        unit: Such as `ms`.
        n: The requests, or gaps, behind it.
    """

    value: float
    low: float | None
    high: float | None
    unit: str
    n: int


def headlines(evidence: Evidence) -> dict[str, HeadlineValue]:
    """Those of `MEASURED` that a run has.

    The intervals are those of `loadgen compare`: of percentiles by order statistics, of rates by the scatter
    over time, with as many requests as are independent of each other.

    Raises:
        LogError: The log is damaged.
        NoRoomError: Memory and temporary disk space are too small for what is computed.
    """
    return dict(_headlines(evidence))


def _headlines(evidence: Evidence) -> Iterator[tuple[str, HeadlineValue]]:
    for name in MEASURED:
        compared = metric(name)
        computed = figure(evidence, compared, LEVEL)
        if computed is not None:
            yield (
                name,
                HeadlineValue(computed.value, computed.low, computed.high, compared.unit, computed.n),
            )
