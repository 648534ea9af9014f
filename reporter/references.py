"""Runs named on a command line: a run's folder, log or report, or a folder of these."""

from __future__ import annotations

from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any, Final

import orjson

from recorder.file_checks import no_run_at, no_run_in
from reporter.errors import NotARunError
from reporter.log.settings import LogHead, head
from reporter.log.storage_place import has_log as has_source
from reporter.log.storage_place import is_remote
from reporter.report import SCHEMA_VERSION

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from reporter.tokens import Tokenizer
    from rulesets.definitions import Definitions
    from rulesets.evidence import Evidence

REPORT: Final = "report.json"


def runs_of(reference: Path) -> list[Path]:
    """The runs that a reference names: a single one, or those in a folder, sorted by name.

    A run is a folder with a log, the log, a `report.json`, a folder with nothing but that, or the address of
    an archive. In a folder of runs those in its sub-folders count; where there are none, the reports that lie
    in it as JSON files.

    Raises:
        NotARunError: It names no run.
    """
    if is_remote(reference) or reference.is_file() or _is_run(reference):
        return [reference]
    if not reference.is_dir():
        raise NotARunError(no_run_at(reference))
    runs = sorted(folder for folder in reference.iterdir() if folder.is_dir() and _is_run(folder))
    runs = runs or sorted(file for file in reference.glob("*.json") if file.is_file())
    if not runs:
        raise NotARunError(no_run_in(reference))
    return runs


@contextmanager
def evidence(
    run: Path, definitions: Definitions | None = None, tokenizer: Tokenizer | None = None
) -> Iterator[Evidence]:
    """One run as evidence, for as long as the context lasts.

    Args:
        run: One of `runs_of`. Of a report nothing but its summaries is known (`rulesets.report_evidence`).
        definitions: What to compute the figures by; a report keeps its own.
        tokenizer: Counts tokens where the server sent no counts.

    Raises:
        NotARunError: It is not a report.
        LogError: It is not a log that can be read.
    """
    from reporter.measured_run import measured
    from reporter.report_options import ReportOptions
    from rulesets.definitions import Definitions
    from rulesets.report_evidence import ReportEvidence

    report = _report_of(run)
    if report is not None:
        yield ReportEvidence(report)
        return
    with measured(run, definitions or Definitions(), ReportOptions(tokenizer=tokenizer)) as (_, run_evidence):
        yield run_evidence


@contextmanager
def evidences(
    references: Sequence[Path], definitions: Definitions | None = None, tokenizer: Tokenizer | None = None
) -> Iterator[list[Evidence]]:
    """All runs that references name, such as those of a baseline; see `evidence`.

    Raises:
        NotARunError: One of them is not a run, nor a folder of runs.
        LogError: One of them is not a log that can be read.
    """
    with ExitStack() as open_runs:
        yield [
            open_runs.enter_context(evidence(run, definitions, tokenizer))
            for reference in references
            for run in runs_of(reference)
        ]


def has_log(run: Path) -> bool:
    """Whether one of `runs_of` has a log rather than only a report."""
    return _report_path(run) is None


def log_head(run: Path) -> LogHead:
    """The head of a run's log; empty for a report without a log.

    Raises:
        LogError: It is not a log that can be read.
    """
    return head(run) if has_log(run) else LogHead()


def _is_run(folder: Path) -> bool:
    return has_source(folder) or (folder / REPORT).is_file()


def _report_path(run: Path) -> Path | None:
    """The report of a run without a log; None for a run with one."""
    if run.is_dir():
        return None if has_source(run) else run / REPORT
    return run if run.suffix == ".json" else None


def _report_of(run: Path) -> dict[str, Any] | None:
    path = _report_path(run)
    if path is None:
        return None
    try:
        report = orjson.loads(path.read_bytes())
    except ValueError as error:
        raise NotARunError(f"{path}: not JSON that can be read ({error})") from error
    if not isinstance(report, dict) or not all(
        isinstance(report.get(key), dict) for key in ("run", "counts")
    ):
        raise NotARunError(f"{path}: not a report.json of this program: no `run` and `counts`")
    if (version := report.get("schema_version", SCHEMA_VERSION)) != SCHEMA_VERSION:
        raise NotARunError(
            f"{path}: a report of format {version}, and this version reads {SCHEMA_VERSION}; "
            "name the folder of the run, which has its log"
        )
    return report
