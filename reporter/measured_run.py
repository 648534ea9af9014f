"""From a run's folder to a report and the evidence for rules, with one reading of the log."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from recorder.store import log_path
from reporter.error_context import blaming
from reporter.measured.evidence import LogEvidence
from reporter.report_options import ReportOptions
from reporter.reporter import MetricsReporter

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from reporter.report import Report
    from rulesets.definitions import Definitions
    from rulesets.ruleset import Ruleset


@contextmanager
def measured(
    run: Path,
    definitions: Definitions,
    options: ReportOptions = ReportOptions(),  # noqa: B008 (immutable)
    *,
    judged_by: Ruleset | None = None,
) -> Iterator[tuple[Report, LogEvidence]]:
    """Compute a report by the definitions, and hold the log open for a verdict.

    Args:
        run: The run's folder, or the log itself.
        definitions: What the figures mean.
        options: Of the report alone: its percentile method takes the place of the definitions', by which the
            evidence is.
        judged_by: The ruleset that the caller holds the report against; see `MetricsReporter.create_report`.

    Yields:
        The report, and the evidence, which answers as long as the context lasts.

    Raises:
        LogError: The log is missing, damaged, or of a version that cannot be read.
        NoRoomError: Memory and temporary disk space are too small for what is computed.
    """
    with MetricsReporter(run) as reporter:
        report, log = reporter.create_report_and_log(definitions, options, judged_by=judged_by)
        with blaming(log_path(run)):
            yield report, LogEvidence(log.with_definitions(definitions), report)
