"""A report evaluated by rules: given ones, or those that the run was started with."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, Literal

from reporter.errors import OptionError
from reporter.json_values import members, texts
from reporter.log.settings import settings
from reporter.metrics import compute, decided_by
from rulesets.evaluators.client_delay import IN_DOUBT, asked_figures

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from reporter.log.database import OpenLog
    from reporter.report import Report
    from reporter.report_options import ReportOptions
    from rulesets.metric import Metric
    from rulesets.ruleset import Ruleset

    Rules = Ruleset | Iterable[Metric] | Literal["active"]

OVERHEAD: Final = frozenset({"client_limited", IN_DOUBT})
"""The codes of findings that depend on which figures decide."""

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
        TargetError: No metric is given, or one is given twice.
    """
    from rulesets.ruleset import Ruleset
    from rulesets.ruleset_of_metrics import of_metrics

    if isinstance(rules, Ruleset):
        return rules, ()
    if rules != ACTIVE:
        return of_metrics(rules), ()
    logged = settings(run)
    stored: Any = members(logged.get("ruleset"))
    if not stored:
        raise OptionError(f"{run} was started without a ruleset: give one")
    return Ruleset.of_dict(stored), texts(logged.get("skip"))


def decided_report(log: OpenLog, rules: Ruleset | None, options: ReportOptions) -> tuple[Report, OpenLog]:
    """Compute the report of a log whose validity the figures decide that rules depend on.

    Returns:
        The report, and the log over the window of the report's rates.
    """
    report, computed, inputs = compute(log, options)
    asked = asked_figures(rules)
    if rules is not None:
        report = decided_by(report, inputs, asked, rules)
    if rules is None or all(
        OVERHEAD.isdisjoint((finding.code, *finding.effects)) for finding in report.findings
    ):
        return report, computed
    from reporter.measured.log_evidence import LogEvidence
    from rulesets.evaluators.delay_decides import deciding_figures

    # How far the figures are from their bounds is known only now.
    method = rules.definitions.percentile_method
    evidence = LogEvidence(
        computed.with_definitions(replace(log.definitions, percentile_method=method)), report
    )
    deciding = deciding_figures(rules, evidence)
    return report if deciding == asked else decided_by(report, inputs, deciding, rules), computed


def with_verdict(log: OpenLog, report: Report, rules: tuple[Ruleset, Sequence[str]]) -> Report:
    """Hold a report against rules."""
    from reporter.measured.log_evidence import LogEvidence
    from rulesets.evaluation import evaluate

    ruleset, skip = rules
    verdict = evaluate(ruleset, LogEvidence(log, report), skip=skip)
    return replace(report, verdict=verdict)
