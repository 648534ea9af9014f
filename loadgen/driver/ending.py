"""Findings on the end of a session: cancelled requests, and turns that were never issued."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

DRAIN_OVER: Final = "drain_over"
CONVERSATIONS_CUT: Final = "conversations_cut"
OVERLOADED: Final = "overloaded"
"""The reason of the end of a session whose endpoint could not keep up; also the code of the finding."""

GATE_LOST: Final = "gate_lost"
"""The reason of the end of a session whose gate was lost; also the code of the finding."""

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
        "code": CONVERSATIONS_CUT,
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
