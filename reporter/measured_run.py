"""The report of a run, computed from the opened log with everything that the log has."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from recorder.store import log_path
from reporter.errors import blaming
from reporter.findings.findings import in_order
from reporter.log.database import open_for_report
from reporter.log.subjects import SCORED, asks_benchmarks
from reporter.measured.log_evidence import LogEvidence
from reporter.parts import with_parts
from reporter.percentiles import method_named
from reporter.report_options import ReportOptions
from reporter.validation import decided_report, rules_of, with_verdict
from rulesets.definitions import CATEGORIES, Definitions

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from reporter.costs import PriceTable
    from reporter.log.database import OpenLog
    from reporter.report import Report
    from reporter.tokens import Tokenizer
    from reporter.validation import Rules
    from rulesets.ruleset import Ruleset

DEFAULT: Final = Definitions()


def computed(
    run: Path,
    log: OpenLog,
    definitions: Definitions = DEFAULT,
    options: ReportOptions = ReportOptions(),  # noqa: B008 (immutable)
    *,
    ruleset: Rules | None = None,
    judged_by: Ruleset | None = None,
) -> tuple[Report, OpenLog]:
    """Compute the report of an opened log; see `MetricsReporter.create_report`.

    Returns:
        The report, and the log by the definitions and over the window of the report.
    """
    rules = None if ruleset is None else rules_of(run, ruleset)
    recount = options.recount
    if rules is not None:
        definitions = rules[0].definitions if definitions is DEFAULT else definitions
        recount = recount or any(audit.name == "token_count" for audit in rules[0].audits)
    if options.percentile_method is not None:
        definitions = replace(definitions, percentile_method=method_named(options.percentile_method))
    with blaming(run):
        log = with_tokens(log.with_definitions(definitions), options.tokenizer, recount=recount)
        benchmarks = asks_benchmarks(log)
        log.load(SCORED if benchmarks else ())
        report: Report
        report, log = decided_report(log.with_samples_table(), judged_by or (rules and rules[0]), options)
        if benchmarks or options.scoring_pass is not None:
            report = _with_scores(log, report, options.scoring_pass)
        report = with_parts(log, report)
        if rules is not None:
            report = with_verdict(log, report, rules)
        if options.prices is not None:
            report = _with_cost(log, report, options.prices, benchmarks=benchmarks)
        return report, log


def with_tokens(log: OpenLog, tokenizer: Tokenizer | None, *, recount: bool = False) -> OpenLog:
    """The log with a tokenizer's counts, or with those of chosen categories, whose code only these load."""
    if tokenizer is None and set(log.definitions.token_categories) == set(CATEGORIES):
        return log
    from reporter.tokens import with_counted_tokens

    return with_counted_tokens(log, tokenizer, recount=recount)


def _with_scores(log: OpenLog, report: Report, scoring_pass: int | None) -> Report:
    from reporter.accuracy import undetermined
    from reporter.accuracy.logged_scores import accuracy

    scores = accuracy(log, scoring_pass)
    findings = [*report.findings, *undetermined.findings(scores)]
    return replace(report, accuracy=scores, findings=in_order(findings))


def _with_cost(log: OpenLog, report: Report, prices: PriceTable, *, benchmarks: bool) -> Report:
    from reporter.costs import TABLES as PRICED
    from reporter.costs import cost

    log.load(PRICED if benchmarks else ())
    model = str(report.run.model)
    return replace(report, cost=cost(log, prices, model, report.accuracy, benchmarks=benchmarks))


@contextmanager
def measured(
    run: Path,
    definitions: Definitions,
    options: ReportOptions = ReportOptions(),  # noqa: B008 (immutable)
    *,
    judged_by: Ruleset | None = None,
) -> Iterator[tuple[Report, LogEvidence]]:
    """Compute a report by the definitions, and hold the log open for a verdict.

    The options' percentile method replaces that of the definitions in the report, not in the evidence.
    `judged_by` is the ruleset that the caller holds the report against; see `MetricsReporter.create_report`.

    Yields:
        The report, and the evidence, which answers as long as the context lasts.

    Raises:
        LogError: The log is missing, damaged, or of a version that cannot be read.
        NoRoomError: Memory and temporary disk space are too small for what is computed.
    """
    with blaming(run):
        opened = open_for_report(run)
    with opened:
        report, log = computed(run, opened, definitions, options, judged_by=judged_by)
        with blaming(log_path(run)):
            yield report, LogEvidence(log.with_definitions(definitions), report)
