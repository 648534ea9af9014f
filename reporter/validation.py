"""A report held against rules: those that somebody gives, or those that the run was started with."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, Literal

from reporter.errors import OptionError
from reporter.kinds import members, texts
from reporter.log.settings import settings

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from reporter.log.database import OpenLog
    from reporter.report import Report
    from rulesets.metric import Metric
    from rulesets.ruleset import Ruleset

    Rules = Ruleset | Iterable[Metric] | Literal["active"]

ACTIVE: Final = "active"
"""The ruleset that the run was started with."""


def rules_of(run: Path, rules: Rules) -> tuple[Ruleset, Sequence[str]]:
    """The ruleset that is meant, and what of it is left out.

    Args:
        run: The run's folder, or the log itself.
        rules: A ruleset; metrics, of whose latencies the 99th percentile must meet the target; or `active`.

    Raises:
        OptionError: The run was started without a ruleset.
        RulesetError: It was started with rules that this version cannot read.
        TargetError: There is no metric, or one is there twice.
    """
    from rulesets.metric import of_metrics
    from rulesets.ruleset import Ruleset

    if isinstance(rules, Ruleset):
        return rules, ()
    if rules != ACTIVE:
        return of_metrics(rules), ()
    logged = settings(run)
    stored: Any = members(logged.get("ruleset"))
    if not stored:
        raise OptionError(f"{run} was started without a ruleset: give one")
    return Ruleset.of_dict(stored), texts(logged.get("skip"))


def with_verdict(log: OpenLog, report: Report, rules: tuple[Ruleset, Sequence[str]]) -> Report:
    """Hold a report against rules.

    Args:
        log: The log that it was computed from, by the definitions and over the window of the report.
        report: The report.
        rules: The ruleset, and what of it is left out.
    """
    from reporter.measured.evidence import LogEvidence
    from rulesets.evaluation import judge

    ruleset, skip = rules
    verdict = judge(ruleset, LogEvidence(log, report), skip=skip)
    return replace(report, verdict=verdict.to_dict())
