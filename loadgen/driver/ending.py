"""The findings on the end of a session: a spent budget, cancelled requests, turns never issued."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from loadgen.driver.stop import DRAIN_OVER, ERROR_BUDGET, GATE_LOST
from recorder.event import Event, EventType

if TYPE_CHECKING:
    from collections.abc import Mapping

    from loadgen.driver.progress import SessionProgress

_WHY: Final[Mapping[str, str]] = {
    "failed": "after a turn that failed",
    "context_overflow": "after a prompt that did not fit the model's context",
    "duration": "because the time was over",
    "stopped": "because the run was stopped",
}


def drain_over(given_up: int, drain_s: float) -> dict[str, Any]:
    """The finding that the drain ended before all requests did."""
    return {
        "code": DRAIN_OVER,
        "severity": "warning",
        "message": f"{given_up} requests were still in flight {drain_s:g} s after the last issue, and were "
        "cancelled. Latencies exclude cancelled requests; token throughput includes their tokens.",
        "remedy": "The slowest requests are missing from the latencies: give a longer --drain, or leave "
        "--drain out.",
    }


def conversations_cut(cut: Mapping[str, int], never_asked: int, sessions: int) -> dict[str, Any]:
    """The finding on conversations that ended before the last turn."""
    reasons = ", ".join(f"{cut[why]} {cause}" for why, cause in _WHY.items() if cut.get(why))
    return {
        "code": "conversations_cut",
        "severity": "warning",
        "message": f"{sum(cut.values())} of {sessions} conversations ended before their last turn "
        f"({reasons}), so {never_asked} turns were never issued.",
        "remedy": "Later turns are rarer than earlier ones: check the figures by turn"
        + ("." if cut.get("failed") else ", or limit the run by --sessions."),
    }


def gate_lost(target: str, why: str) -> dict[str, Any]:
    """The finding that a target was lost during the run."""
    return {
        "code": GATE_LOST,
        "severity": "warning",
        "message": f"The run was ended early (--abort-on-fail): {target} is lost: {why}.",
        "remedy": "The figures cover the run up to the abort; omit --abort-on-fail for a complete run.",
    }


def budget_spent(spent: str, progress: SessionProgress, at_ns: int) -> Event:
    """The finding on a spent budget, for the log."""
    most_frequent = ", ".join(f"{name} ({count})" for name, count in progress.errors.most_common(3))
    data: dict[str, Any] = {
        "code": ERROR_BUDGET,
        "severity": "error",
        "message": f"The error budget was spent: {spent}. Most frequent: {most_frequent}.",
        "remedy": "Check the endpoint (`loadgen check`), lower the load, or allow more failures.",
    }
    return Event(EventType.FINDING, at_ns, data=data)
