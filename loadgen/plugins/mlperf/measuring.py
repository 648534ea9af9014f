"""A run measured by an export's definitions."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

from lazy_dataclasses import dataclass, replace

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from reporter.log.database import OpenLog
    from reporter.measured.log_evidence import LogEvidence
    from reporter.report import Report
    from reporter.tokens import Tokenizer
    from rulesets.definitions import Definitions

LOADGEN: Final = "mlperf-inference@v6.1"
ENDPOINTS: Final = "mlperf-endpoints@v1.0"

_TOKENIZER: Final = "client_tokenizer"
_COUNTED_OTHERWISE: Final = frozenset({"tokens_from_chunks", "mixed_token_sources", "tokens_unknown"})
"""Findings about where tokens come from: the files have no room for them."""


@dataclass(frozen=True, slots=True)
class Basis:
    """The definitions that figures are computed by.

    Attributes:
        unmet: The definitions that cannot be met, a sentence each.
    """

    name: str
    definitions: Definitions
    tokenizer: Tokenizer | None
    unmet: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class MeasuredRun:
    """A run with report and evidence."""

    log: OpenLog
    settings: Mapping[str, Any]
    report: Report
    evidence: LogEvidence


def basis_of(ruleset: str, tokenizer: Tokenizer | None) -> Basis:
    """The definitions of a ruleset, as far as an export's files can express them."""
    from rulesets.loading import read

    book = read(ruleset)
    # Definitions are of the whole document: every model and scenario has the same.
    definitions = next(iter(book.rulesets.values())).definitions
    name = f"{book.name}@{book.version}"
    unmet = []
    if definitions.throughput_window == "steady_state":
        definitions = replace(definitions, throughput_window="run")
        unmet.append(
            f"{name} wants figures of the steady state; the run's figures are from the first request to "
            "the last completion"
        )
    if definitions.token_source == _TOKENIZER and tokenizer is None:
        definitions = replace(definitions, token_source=None)
        unmet.append(f"{name} wants tokens counted by the model's tokenizer: --tokenizer NAME")
    return Basis(name, definitions, tokenizer, tuple(unmet))


@contextmanager
def measuring(run: Path, basis: Basis) -> Iterator[MeasuredRun]:
    """Open a run.

    Raises:
        LogError: The log is missing, damaged, or of a version that cannot be read.
        BeingWrittenError: It is still running.
    """
    from loadgen.sessions.errors import UsageError
    from loadgen.sessions.files.run_folder import still_running
    from recorder.store import log_path
    from reporter.errors import blaming
    from reporter.log.settings import settings
    from reporter.measured.log_evidence import LogEvidence
    from reporter.report_options import ReportOptions
    from reporter.reporter import MetricsReporter

    run_settings = settings(run)
    with MetricsReporter(run) as reporter:
        report, log = reporter.create_report_and_log(
            basis.definitions, ReportOptions(tokenizer=basis.tokenizer)
        )
        if report.run.ended == "running":
            raise still_running(run)
        if report.run.imported is not None:
            program = report.run.imported.get("format")
            raise UsageError(f"{run} was imported from {program}: MLPerf takes runs that were measured here")
        with blaming(log_path(run)):
            yield MeasuredRun(log, run_settings, report, LogEvidence(log, report))


def counted_otherwise(run: MeasuredRun) -> Iterator[str]:
    """Remarks on a run's counts of tokens, a sentence each."""
    return (finding.message for finding in run.report.findings if finding.code in _COUNTED_OTHERWISE)
