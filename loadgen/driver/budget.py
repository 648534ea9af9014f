"""The error budget: how much may fail before a run is not worth going on with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from recorder.event import Event, EventType

if TYPE_CHECKING:
    from loadgen.driver.progress import Progress

ENOUGH: Final = 20
"""A share is looked at once so many requests have ended: of fewer, one failure is a large share."""

REASON: Final = "error_budget"
"""Why a session ended whose budget was spent."""


@dataclass(frozen=True, slots=True)
class ErrorBudget:
    """How much of what is measured may fail; without a number, anything may.

    Attributes:
        errors: So many failed requests end the run.
        rate: More than this share of the requests that have ended ends the run.
    """

    errors: int | None = None
    rate: float | None = None

    def spent(self, progress: Progress) -> str | None:
        """What has failed that was not to, in a sentence; None while the budget lasts."""
        failed, ended = progress.errors.total(), progress.ended
        if self.errors is not None and failed >= self.errors:
            return f"{failed} requests failed, and --max-errors is {self.errors}"
        if self.rate is not None and ended >= ENOUGH and failed > self.rate * ended:
            share = f"{failed} of {ended} requests failed ({failed / ended:.1%})"
            return f"{share}, and --max-error-rate is {self.rate:.1%}"
        return None


def finding(spent: str, progress: Progress, at_ns: int) -> Event:
    """What the log says of a spent budget."""
    most = ", ".join(f"{name} ({count})" for name, count in progress.errors.most_common(3))
    data: dict[str, Any] = {
        "code": REASON,
        "severity": "error",
        "message": f"Too much failed to go on: {spent}. Most frequent: {most}.",
        "remedy": "`loadgen check` tells whether the endpoint answers; put on less load, or allow more.",
    }
    return Event(EventType.FINDING, at_ns, data=data)
