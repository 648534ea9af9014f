"""What an audit leaves in `audit/` of its folder."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from loadgen.sessions.errors import SetupError
from loadgen.sessions.observer import SILENT
from loadgen.sessions.series import series as files
from loadgen.sessions.series.audit.output_caching import REFERENCE, REPEATED, TEST, AuditPhase, audit
from loadgen.sessions.whole_file import write_whole

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from loadgen.sessions.observer import Observer
    from loadgen.sessions.series.audit.output_caching import AuditResult
    from loadgen.sessions.series.outcome import PointOutcome

FOLDER: Final = "audit"
RECORD: Final = f"{FOLDER}/audit_{TEST}.json"
VERIFIED: Final = f"{FOLDER}/verify_{TEST.upper()}.txt"
_BEGUN_BEFORE: Final = (
    "the reference phase had been begun before and was cut off, so a cache may have known its prompts: start "
    "the server anew and audit again to be sure"
)


def conclude(
    folder: Path, outcomes: Sequence[PointOutcome], threshold: float, observer: Observer = SILENT
) -> AuditResult | None:
    """Judge the phases that have been run, and write what came of them.

    Phases that cannot stand for the server are not judged, and leave nothing: then it is None.

    Raises:
        SetupError: The result cannot be written.
    """
    invalid = [one for one in outcomes if not one.report.validity.valid]
    for one in invalid:
        why = " ".join(one.report.validity.reasons)
        observer.note(f"error: the phase {one.point.name} is invalid, and nothing is judged: {why}")
    if invalid:
        return None
    reference, repeated = (_phase(outcomes, name) for name in (REFERENCE, REPEATED))
    found = audit(reference, repeated, threshold)
    if any(folder.glob(f"{outcomes[0].folder.name}.cut-*")):
        found = replace(found, reason=f"{found.reason}; {_BEGUN_BEFORE}")
    run = outcomes[0].report.run
    told = {**found.to_dict(), "model": run.model, "salt": run.salt}
    _lay(folder, told, passed=found.passed)
    return found


def _phase(outcomes: Sequence[PointOutcome], name: str) -> AuditPhase:
    outcome = next(one for one in outcomes if one.point.name == name)
    report = outcome.report
    return AuditPhase(
        report.throughput.qps or None, report.counts.completed, outcome.point.options["requests"]
    )


def withdraw(folder: Path) -> None:
    """Take away what an earlier conclusion has left: while phases run, nothing says that they passed."""
    for name in (RECORD, VERIFIED):
        (folder / name).unlink(missing_ok=True)


def verified(*, passed: bool) -> bytes:
    """The line in which MLPerf's checkers look for the end of an audit."""
    return f"Performance check pass: {passed}\n".encode()


def _lay(folder: Path, told: dict[str, Any], *, passed: bool) -> None:
    """The record first: without it, nothing is to say that the audit is passed."""
    files.lay(folder / RECORD, told)
    try:
        write_whole(folder / VERIFIED, verified(passed=passed))
    except OSError as error:
        raise SetupError(f"{folder / VERIFIED} cannot be written ({error.strerror})") from error
