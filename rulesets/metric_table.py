"""The one table of metrics: those of requests, and the rates, counts and shares of a run.

Other names of metrics are in `rulesets.quantity.METRIC_ALIASES`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from rulesets.quantity import (
    ACCURACY,
    COUNT,
    ERROR_RATE,
    GOOD,
    INTERACTIVITY,
    REQUEST_RATE,
    SCORES,
    TOKEN_RATE,
    MetricDefinition,
    Quantity,
)
from rulesets.request_metrics import REQUEST_METRICS, TOKEN_COUNTS
from rulesets.section_metrics import SECTION_METRICS
from rulesets.session_metrics import SESSION_METRICS, SESSION_RUN_METRICS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rulesets.quantity import Need

_TOKEN_RATES: Final[tuple[tuple[str, str, Need], ...]] = (
    ("output_tps", "output tokens per second", "tokens"),
    ("total_tps", "input and output tokens per second", "tokens"),
    ("tps_per_gpu", "input and output tokens per second and GPU (--gpus)", "gpus"),
)
RUN_METRICS: Final = (
    MetricDefinition(
        name="tps_per_user",
        quantity=INTERACTIVITY,
        meaning="interactivity: output tokens per second that one user sees, 1 / TPOT",
        per="run",
        needs=("stream", "tokens"),
    ),
    MetricDefinition(
        name="qps",
        quantity=REQUEST_RATE,
        meaning="completed requests per second",
        per="run",
        overhead="rate",
        compared=("value",),
        compared_briefly=("value",),
    ),
    *(
        MetricDefinition(
            name=name,
            quantity=TOKEN_RATE,
            meaning=meaning,
            per="run",
            needs=(need,),
            depends_on=TOKEN_COUNTS,
            overhead="rate",
        )
        for name, meaning, need in _TOKEN_RATES
    ),
    *SESSION_RUN_METRICS,
    *SECTION_METRICS,
    MetricDefinition(
        name="error",
        quantity=ERROR_RATE,
        meaning="share of requests that failed, of those that ended",
        per="run",
    ),
    MetricDefinition(
        name="good",
        quantity=GOOD,
        meaning="goodput: requests that met all conditions in parentheses",
        per="run",
    ),
    *(
        MetricDefinition(name=name, quantity=COUNT, meaning=f"number of requests that {what}", per="run")
        for name, what in (
            ("issued", "were issued"),
            ("completed", "completed"),
            ("failed", "failed"),
            ("cancelled", "the client cancelled"),
        )
    ),
)
"""Figures that a run has one of."""

TABLE: Final = (*REQUEST_METRICS, *SESSION_METRICS, *RUN_METRICS)
"""Every metric, in the order in which rules list them."""

BY_NAME: Final[Mapping[str, MetricDefinition]] = {metric.name: metric for metric in TABLE}

METRICS: Final[Mapping[str, Quantity]] = {metric.name: metric.quantity for metric in TABLE if metric.in_rules}
"""Every metric that a target can name, but the scores: `accuracy.` and a name."""


def quantity_of(metric: str) -> Quantity:
    """The kind of figure that a metric is.

    Raises:
        KeyError: The metric does not exist.
    """
    return ACCURACY if metric.startswith(SCORES) else METRICS[metric]
