"""The figures of sessions and of plug-ins' sections in a report, which rules bound."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from rulesets.errors import Unanswerable
from rulesets.evidence import Rate
from rulesets.section_metrics import SECTION_FIGURES

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rulesets.evidence import Where


def require_all(metric: str, where: Where) -> None:
    """Refuse a part of the requests.

    Raises:
        Unanswerable: A rule is about the sessions of a tag.
    """
    if where:
        raise Unanswerable(f"{metric} is of whole sessions, which have no tags", "leave the tag out")


def summary(report: Mapping[str, Any], column: str) -> Mapping[str, Any]:
    """The summary of a figure of sessions; empty without sessions."""
    return _sessions(report).get("figures", {}).get(column) or {}


CUT: Final = frozenset({"duration", "stopped", "cut"})
"""The endings of sessions that the client cut."""


def session_rate(report: Mapping[str, Any], metric: str) -> Rate:
    """A rate of sessions, without the blocks that a limit would take."""
    name = "measured_hit_rate" if metric == "hit_rate" else metric
    return Rate(_sessions(report).get(name), counts(report)["completed"])


def completed(report: Mapping[str, Any]) -> int | None:
    """The sessions that completed; None of a run without sessions."""
    return counts(report)["completed"] if _sessions(report) else None


def counts(report: Mapping[str, Any]) -> Mapping[str, int]:
    """The sessions that completed, and those that failed; without those that the client cut."""
    endings: Mapping[str, int] = _sessions(report).get("endings", {})
    failed = sum(count for ending, count in endings.items() if ending not in {"completed", *CUT})
    return {"completed": endings.get("completed") or 0, "failed": failed, "cancelled": 0}


def section_figure(report: Mapping[str, Any], metric: str, where: Where) -> Rate:
    """A figure of a report's section.

    Raises:
        Unanswerable: A rule is about a part of the requests.
    """
    if where:
        raise Unanswerable(f"{metric} is of the whole run", "leave the tag out")
    section, value, count = SECTION_FIGURES[metric]
    figures = (report.get("sections") or {}).get(section, {}).get("figures", {})
    return Rate(figures.get(value), figures.get(count) or 0)


def _sessions(report: Mapping[str, Any]) -> Mapping[str, Any]:
    return report.get("sessions") or {}
