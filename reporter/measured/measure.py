"""From a run's folder to its report and to the evidence that it is judged by, over one reading of the log."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from recorder.store import log_path
from reporter.border import blaming
from reporter.measured.evidence import LogEvidence
from reporter.reporter import MetricsReporter

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from reporter.report import Report
    from reporter.tokens import Tokenizer
    from rulesets.definitions import Definitions


@contextmanager
def measured(
    run: Path, definitions: Definitions, tokenizer: Tokenizer | None = None, **options: Any
) -> Iterator[tuple[Report, LogEvidence]]:
    """Compute a report by the definitions, and hold the log open for a verdict.

    Args:
        run: The run's folder, or the log itself.
        definitions: What the figures mean.
        tokenizer: What counts tokens where the definitions want them counted.
        options: Of the report alone, for `MetricsReporter.create_report`: `tpot_reporting_mode`, `recount`,
            and a `percentile_method` that takes the place of the definitions'. The evidence is by the
            definitions.

    Yields:
        The report, and the evidence, which answers as long as the context lasts.

    Raises:
        LogError: There is no log that this version reads, or it is damaged.
        NoRoomError: There is no room for what is computed.
    """
    with MetricsReporter(run) as reporter:
        report, log = reporter.create_report_and_log(tokenizer, definitions=definitions, **options)
        with blaming(log_path(run)):
            yield report, LogEvidence(log.with_definitions(definitions), report)
