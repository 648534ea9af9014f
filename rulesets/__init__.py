"""The rules: targets in, verdict out. Judges plain data and imports nothing of ours.

A name is imported when it is first asked for, so that who only needs definitions loads no judge.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rulesets.demands import Validity
    from rulesets.errors import ExpressionError, RulesetError, RulesetFileError, TargetError
    from rulesets.expression import parse, unparse
    from rulesets.loading import load
    from rulesets.metric import TPOT, TTFT, QueryLatency, Throughput
    from rulesets.of_report import OfReport
    from rulesets.ruleset import Ruleset, of_expressions
    from rulesets.target import METRICS, Target
    from rulesets.verdict import Row, Verdict, exit_code, judge

__all__ = [
    "METRICS",
    "TPOT",
    "TTFT",
    "ExpressionError",
    "OfReport",
    "QueryLatency",
    "Row",
    "Ruleset",
    "RulesetError",
    "RulesetFileError",
    "Target",
    "TargetError",
    "Throughput",
    "Validity",
    "Verdict",
    "exit_code",
    "judge",
    "load",
    "of_expressions",
    "parse",
    "unparse",
]

_HOMES = {
    "demands": ("Validity",),
    "errors": ("ExpressionError", "RulesetError", "RulesetFileError", "TargetError"),
    "expression": ("parse", "unparse"),
    "loading": ("load",),
    "metric": ("TPOT", "TTFT", "QueryLatency", "Throughput"),
    "of_report": ("OfReport",),
    "ruleset": ("Ruleset", "of_expressions"),
    "target": ("METRICS", "Target"),
    "verdict": ("Row", "Verdict", "exit_code", "judge"),
}
"""The modules that the public names live in."""


def __getattr__(name: str) -> Any:
    for home, names in _HOMES.items():
        if name in names:
            return getattr(import_module(f"rulesets.{home}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
