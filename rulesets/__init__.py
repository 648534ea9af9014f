"""The rules: targets in, verdict out. Evaluates plain data and imports nothing of ours.

A name is imported on first use, so that using only the definitions does not load the evaluation.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rulesets.demands import ValidityDemand
    from rulesets.errors import ExpressionError, RulesetError, RulesetFileError, TargetError
    from rulesets.evaluation import evaluate
    from rulesets.expression import parse, unparse
    from rulesets.loading import load
    from rulesets.metric import (
        TPOT,
        TTFT,
        Metric,
        QueryLatency,
        Throughput,
    )
    from rulesets.report_evidence import ReportEvidence
    from rulesets.ruleset import Ruleset, of_expressions
    from rulesets.ruleset_of_metrics import of_metrics, reported_metrics
    from rulesets.target import METRICS, Target
    from rulesets.verdict import Verdict, VerdictRow, exit_code

__all__ = [
    "METRICS",
    "TPOT",
    "TTFT",
    "ExpressionError",
    "Metric",
    "QueryLatency",
    "ReportEvidence",
    "Ruleset",
    "RulesetError",
    "RulesetFileError",
    "Target",
    "TargetError",
    "Throughput",
    "ValidityDemand",
    "Verdict",
    "VerdictRow",
    "evaluate",
    "exit_code",
    "load",
    "of_expressions",
    "of_metrics",
    "parse",
    "reported_metrics",
    "unparse",
]

_HOMES = {
    "demands": ("ValidityDemand",),
    "errors": ("ExpressionError", "RulesetError", "RulesetFileError", "TargetError"),
    "evaluation": ("evaluate",),
    "expression": ("parse", "unparse"),
    "loading": ("load",),
    "metric": ("Metric", "TPOT", "TTFT", "QueryLatency", "Throughput"),
    "report_evidence": ("ReportEvidence",),
    "ruleset": ("Ruleset", "of_expressions"),
    "ruleset_of_metrics": ("of_metrics", "reported_metrics"),
    "target": ("METRICS", "Target"),
    "verdict": ("Verdict", "VerdictRow", "exit_code"),
}
"""The modules that the names live in."""


def __getattr__(name: str) -> object:
    for home, names in _HOMES.items():
        if name in names:
            return getattr(import_module(f"{__name__}.{home}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
