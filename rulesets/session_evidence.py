"""The figures of sessions in a report, which rules bound."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rulesets.errors import Unanswerable
from rulesets.evidence import Rate

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


def job_rate(report: Mapping[str, Any], metric: str) -> Rate:
    """A rate of jobs, without the blocks that a limit would take."""
    sessions = _sessions(report)
    return Rate(sessions.get(metric), sessions.get("endings", {}).get("completed") or 0)


def _sessions(report: Mapping[str, Any]) -> Mapping[str, Any]:
    return report.get("sessions") or {}
