"""What a run is evaluated by: metrics with targets, rulesets, and verdicts."""

from __future__ import annotations

from reporter import MetricsReporter
from rulesets import (
    TPOT,
    TTFT,
    ExpressionError,
    Metric,
    QueryLatency,
    Ruleset,
    RulesetError,
    Throughput,
    Verdict,
    VerdictRow,
    exit_code,
    load,
    of_expressions,
    of_metrics,
    reported_metrics,
)

__all__ = [
    "TPOT",
    "TTFT",
    "ExpressionError",
    "Metric",
    "MetricsReporter",
    "QueryLatency",
    "Ruleset",
    "RulesetError",
    "Throughput",
    "Verdict",
    "VerdictRow",
    "exit_code",
    "load",
    "of_expressions",
    "of_metrics",
    "reported_metrics",
]
