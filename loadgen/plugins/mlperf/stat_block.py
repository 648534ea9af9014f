"""The distribution of one metric in the format of mlcommons/endpoints.

mlcommons/endpoints@ea332753:src/inference_endpoint/metrics/report.py (_series_to_metric_dict).

Times are nanoseconds. Percentiles are by the method of the definitions; early-stopping estimates are MLPerf's
(`rulesets.statistics.early_stopping`), None where there are too few samples for one. Where failed requests
count as violations they are among the samples of percentiles and estimates, and one that falls on them is
None: a figure without evidence. Everything else is of the requests that completed.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final

from rulesets.statistics.early_stopping import estimate_rank

if TYPE_CHECKING:
    from collections.abc import Mapping

    from reporter.measured.log_sample import LogSample

NS_IN_MS: Final = 1e6

GRID: Final = ("99.9", "99.0", "97.0", "95.0", "90.0", "80.0", "75.0", "50.0", "25.0", "10.0", "5.0", "1.0")
"""The percentiles of a block.

mlcommons/endpoints@ea332753:src/inference_endpoint/async_utils/services/metrics_aggregator/registry.py
(DEFAULT_PERCENTILES).
"""

ESTIMATED: Final = GRID[: GRID.index("50.0") + 1]
"""Those that are estimated too: the median and above."""


@dataclass(frozen=True, slots=True)
class Unit:
    """The unit of a block's numbers.

    Attributes:
        times: What a value of ours is multiplied by.
        whole: Whether the product is a whole number: a difference of two stamps, or a count.
    """

    times: float = 1.0
    whole: bool = True

    def of(self, value: float | None) -> float | None:
        """A value of ours in this unit; None for one that is not finite."""
        if value is None or not math.isfinite(value):
            return None
        return round(value * self.times) if self.whole else value * self.times


NS: Final = Unit(NS_IN_MS)
NS_OF_RATIO: Final = Unit(NS_IN_MS, whole=False)
"""Of a time that was divided, as TPOT is."""
COUNT: Final = Unit()


def block(sample: LogSample, std: float | None, unit: Unit) -> dict[str, Any]:
    """The block of a metric; empty without requests that have the metric.

    Args:
        sample: Its values, in ms or tokens.
        std: Their sample standard deviation, as the report has it; None for a single one.
        unit: What the block is in.
    """
    ranked = sample.ranked
    if not ranked.finite:
        return {}
    percentiles = {name: unit.of(sample.percentile(share(name))) for name in GRID}
    return {
        "total": unit.of(ranked.total()),
        "min": unit.of(sample.at(0)),
        "max": unit.of(sample.at(ranked.finite - 1)),
        "median": percentiles["50.0"],
        "avg": ranked.total() / ranked.finite * unit.times,
        "std_dev": (std or 0.0) * unit.times,
        "percentiles": percentiles,
    }


def estimated(sample: LogSample, std: float | None, unit: Unit) -> dict[str, Any]:
    """The block of a latency, with early-stopping estimates in addition to percentiles."""
    return {**block(sample, std, unit), "early_stopping_percentiles": estimates(sample, unit)}


def estimates(sample: LogSample, unit: Unit) -> Mapping[str, float | None]:
    """The early-stopping estimates at 99 % confidence."""
    ranks = {name: estimate_rank(sample.count, share(name)) if sample.count else None for name in ESTIMATED}
    return {name: None if rank is None else unit.of(sample.at(rank)) for name, rank in ranks.items()}


def share(name: str) -> Fraction:
    """A percentile of a block's key, as an exact share."""
    return Fraction(name) / 100
