"""From the views of a log to the figures of its sessions, and what there is to say about their fidelity."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from reporter.log.database import all_figures, figures
from reporter.number_text import fixed
from reporter.report import Finding
from reporter.values.session_figures import SessionDepth, SessionFigure, Sessions

if TYPE_CHECKING:
    from reporter.log.database import OpenLog
    from reporter.report import Report

MOST_OFF: Final = 0.02
"""How far the prompt tokens that were sent may be from those recorded, as a share of these."""


def with_sessions(log: OpenLog, report: Report) -> Report:
    """The report with the figures of sessions, where the log has some."""
    log.load(("sessions",))
    endings: dict[str, int] = {row["ending"]: row["count"] for row in all_figures(log, "session_endings")}
    if not endings:
        return report
    totals, gpus = figures(log, "session_totals"), report.run.gpus
    per_hour = totals["jobs_per_hour"]
    sessions = Sessions(
        endings=endings,
        figures={row.pop("figure"): SessionFigure(**row) for row in all_figures(log, "sessions")},
        depths=[SessionDepth(**row) for row in all_figures(log, "session_depths")],
        jobs_per_hour_per_gpu=per_hour / gpus if gpus and per_hour is not None else None,
        **totals,
    )
    finding = _other_prompts(sessions)
    findings = report.findings if finding is None else [*report.findings, finding]
    return replace(report, sessions=sessions, findings=findings)


def _other_prompts(sessions: Sessions) -> Finding | None:
    """The finding that prompts were longer or shorter than recorded."""
    ratio = sessions.input_ratio
    if ratio is None or abs(ratio - 1) <= MOST_OFF:
        return None
    return Finding(
        code="prompts_not_as_recorded",
        severity="warning",
        message=f"The prompts had {fixed(100 * ratio, 1)} % of the recorded prompt tokens (server's count).",
        remedy="Give --tokenizer: with the model's, prompts have the recorded lengths.",
    )
