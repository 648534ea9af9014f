"""The error budget: how many requests may fail before a run is ended."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from recorder.event import Event, EventType

if TYPE_CHECKING:
    from loadgen.driver.progress import SessionProgress

ENOUGH: Final = 20
"""The rate is checked from this many ended requests on: of fewer, one failure is a large share."""

REASON: Final = "error_budget"
"""The reason of the end of a session whose budget was spent."""


@dataclass(frozen=True, slots=True)
class ErrorBudget:
    """How many measured requests may fail; unlimited without a number.

    Attributes:
        errors: The number of failed requests that ends the run.
        rate: More than this share of the requests that have ended ends the run.
    """

    errors: int | None = None
    rate: float | None = None

    def spent(self, progress: SessionProgress) -> str | None:
        """The excess over the budget, in a sentence; None within the budget."""
        failed, ended = progress.errors.total(), progress.ended
        if self.errors is not None and failed >= self.errors:
            return f"{failed} request{'s' * (failed != 1)} failed, and --max-errors is {self.errors}"
        if self.rate is not None and ended >= ENOUGH and failed > self.rate * ended:
            share = f"{failed} of {ended} requests failed ({failed / ended:.1%})"
            return f"{share}, and --max-error-rate is {self.rate:.1%}"
        return None


def finding(spent: str, progress: SessionProgress, at_ns: int) -> Event:
    """The finding on a spent budget, for the log."""
    most_frequent = ", ".join(f"{name} ({count})" for name, count in progress.errors.most_common(3))
    data: dict[str, Any] = {
        "code": REASON,
        "severity": "error",
        "message": f"The error budget was spent: {spent}. Most frequent: {most_frequent}.",
        "remedy": "Check the endpoint (`loadgen check`), lower the load, or allow more failures.",
    }
    return Event(EventType.FINDING, at_ns, data=data)
