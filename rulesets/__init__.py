"""The rules: targets in, verdict out. Judges plain data and imports nothing of ours."""

from rulesets.errors import ExpressionError, RulesetError, RulesetFileError, TargetError
from rulesets.expression import parse, unparse
from rulesets.metric import TPOT, TTFT, QueryLatency, Throughput
from rulesets.ruleset import Ruleset, Validity, load, of_expressions
from rulesets.target import METRICS, Target
from rulesets.verdict import Row, Verdict, exit_code, judge

__all__ = [
    "METRICS",
    "TPOT",
    "TTFT",
    "ExpressionError",
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
