"""The files of an audit, in `audit/` of its folder."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from loadgen.sessions.errors import SetupError
from loadgen.sessions.files import series_file as files
from loadgen.sessions.files.run_folder import write_whole
from loadgen.sessions.observer import SILENT
from loadgen.sessions.series.audit.output_caching import REFERENCE, REPEATED, TEST, AuditPhase, audit

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from loadgen.sessions.observer import Observer
    from loadgen.sessions.series.audit.output_caching import AuditResult
    from loadgen.sessions.series_outcome import PointOutcome

FOLDER: Final = "audit"
RECORD: Final = f"{FOLDER}/audit_{TEST}.json"
VERIFIED: Final = f"{FOLDER}/verify_{TEST.upper()}.txt"
_BEGUN_BEFORE: Final = (
    "an earlier reference phase was cut off, so a cache may have its prompts; restart the server "
    "and audit again"
)


def conclude(
    folder: Path, outcomes: Sequence[PointOutcome], threshold: float, observer: Observer = SILENT
) -> AuditResult | None:
    """Evaluate the phases that have been run, and write the result.

    Invalid phases are not evaluated, and leave no files: the result is None.

    Raises:
        SetupError: The result cannot be written.
    """
    invalid = [outcome for outcome in outcomes if not outcome.report.validity.valid]
    for outcome in invalid:
        why = " ".join(outcome.report.validity.reasons)
        observer.note(
            f"error: the phase {outcome.point.name} is invalid, and the audit is not evaluated: {why}"
        )
    if invalid:
        return None
    reference, repeated = (_phase(outcomes, name) for name in (REFERENCE, REPEATED))
    result = audit(reference, repeated, threshold)
    if any(folder.glob(f"{outcomes[0].folder.name}.cut-*")):
        result = replace(result, reason=f"{result.reason}; {_BEGUN_BEFORE}")
    run = outcomes[0].report.run
    record = {**result.to_dict(), "model": run.model, "salt": run.salt}
    _write_record(folder, record, passed=result.passed)
    return result


def _phase(outcomes: Sequence[PointOutcome], name: str) -> AuditPhase:
    outcome = next(outcome for outcome in outcomes if outcome.point.name == name)
    report = outcome.report
    return AuditPhase(
        report.throughput.qps or None, report.counts.completed, outcome.point.options["requests"]
    )


def withdraw(folder: Path) -> None:
    """Remove the files of an earlier result: while phases run, no file says that they passed."""
    for name in (RECORD, VERIFIED):
        (folder / name).unlink(missing_ok=True)


def verified(*, passed: bool) -> bytes:
    """The line in which MLPerf's checkers look for the result of an audit."""
    return f"Performance check pass: {passed}\n".encode()


def _write_record(folder: Path, record: dict[str, Any], *, passed: bool) -> None:
    """Write the record first: without it, no file may say that the audit passed."""
    files.write_json(folder / RECORD, record)
    try:
        write_whole(folder / VERIFIED, verified(passed=passed))
    except OSError as error:
        raise SetupError(f"{folder / VERIFIED} cannot be written ({error.strerror})") from error
