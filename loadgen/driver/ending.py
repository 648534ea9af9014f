"""The end of a session: the error budget, and findings on cancelled requests and turns never issued."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from recorder.event import Event, EventType

if TYPE_CHECKING:
    from collections.abc import Mapping

    from loadgen.driver.progress import SessionProgress

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


ENOUGH: Final = 20
"""The rate is checked from this many ended requests on: of fewer, one failure is a large share."""

ERROR_BUDGET: Final = "error_budget"
"""The reason of the end of a session whose budget was spent."""


@dataclass(frozen=True, slots=True)
class ErrorBudget:
    """How many measured requests may fail; unlimited without a number."""

    errors: int | None = None  #: the number of failed requests that ends the run
    rate: float | None = None  #: more than this share of the requests that have ended ends the run

    def spent(self, progress: SessionProgress) -> str | None:
        """The excess over the budget, in a sentence; None within the budget."""
        failed, ended = progress.errors.total(), progress.ended
        if self.errors is not None and failed >= self.errors:
            return f"{failed} request{'s' * (failed != 1)} failed, and --max-errors is {self.errors}"
        if self.rate is not None and ended >= ENOUGH and failed > self.rate * ended:
            share = f"{failed} of {ended} requests failed ({failed / ended:.1%})"
            return f"{share}, and --max-error-rate is {self.rate:.1%}"
        return None


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
