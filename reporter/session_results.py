"""From the views of a log to the figures of its sessions, and what there is to say about their fidelity."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from reporter.cache_hits import in_percent
from reporter.log.database import all_figures, figures
from reporter.number_text import whole
from reporter.report import Finding
from reporter.values.session_figures import (
    SessionDepth,
    SessionFidelity,
    SessionFigure,
    SessionReuse,
    Sessions,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from reporter.log.database import OpenLog
    from reporter.report import Report

MOST_OFF: Final = 0.02
"""How far the prompt tokens that were sent may be from those recorded, as a share of these."""

LEAST_REUSED: Final = 0.8
"""The least share of the reusable tokens that a server with the whole prefix has cached: blocks are whole."""


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
        reuse=[SessionReuse(**row) for row in all_figures(log, "session_reuse")],
        fidelity={row.pop("figure"): SessionFidelity(**row) for row in all_figures(log, "session_fidelity")},
        jobs_per_hour_per_gpu=per_hour / gpus if gpus and per_hour is not None else None,
        **totals,
    )
    remarks = (*_other_prompts(sessions), *_lost_affinity(sessions, len(report.run.urls or ())))
    return replace(report, sessions=sessions, findings=[*report.findings, *remarks])


def _other_prompts(sessions: Sessions) -> Iterator[Finding]:
    """The finding that prompts were longer or shorter than recorded."""
    prompts = sessions.fidelity.get("input_tokens")
    if prompts is None or prompts.ratio is None or abs(prompts.ratio - 1) <= MOST_OFF:
        return
    yield Finding(
        code="prompts_not_as_recorded",
        severity="warning",
        message=f"The prompts had {in_percent(prompts.ratio)} of the recorded tokens (server's count).",
        remedy="Give --tokenizer: with the model's, prompts have the recorded lengths.",
    )


def _lost_affinity(sessions: Sessions, urls: int) -> Iterator[Finding]:
    """The finding that later turns did not meet the prefixes of earlier ones."""
    rate = sessions.reused_rate
    if rate is None or rate >= LEAST_REUSED:
        return
    behind = "a server behind one of the URLs" if urls > 1 else "the server"
    yield Finding(
        code="affinity_lost",
        severity="warning",
        message=f"Of the prompt tokens that earlier turns of the session had, {in_percent(rate)} were "
        f"cached; {whole(sessions.lost_turns)} of {whole(sessions.reusing_turns)} later turns had less "
        "than half of theirs.",
        remedy="If a gateway spreads requests over several servers, give --session-header with the header "
        f"that it routes by. If {behind} is alone, its cache is too small for the open sessions.",
    )
