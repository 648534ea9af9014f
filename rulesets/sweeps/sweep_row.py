"""The row of a rule over several runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lazy_dataclasses import dataclass
from rulesets.evaluators.rule_row import VerdictRow, margin

if TYPE_CHECKING:
    from rulesets.evaluators.rule_row import Status
    from rulesets.target import Severity


@dataclass(frozen=True, slots=True)
class Curve:
    """The declared ends of a curve.

    Attributes:
        c_max: The greatest concurrency; None where no point has one.
        c_min: Where Ultra Low ends (`c_min_override` of system_desc.json); None for the lowest point.
    """

    c_max: int | None
    c_min: int | None = None


@dataclass(frozen=True, slots=True)
class SweepRule:
    """A rule over several runs.

    Attributes:
        id: Its name after `sweep.`.
        bound: What its figure must meet; None where it bounds none.
    """

    id: str
    text: str
    bound: float | None = None
    severity: Severity = "fail"
    method: str = ""

    def met(self, n: int, observed: float | None = None) -> VerdictRow:
        """A row that passes."""
        return self._row("PASS", n, observed)

    def missed(self, n: int, reason: str, remedy: str = "", observed: float | None = None) -> VerdictRow:
        """A row that fails, or could not be measured."""
        return self._row("FAIL", n, observed, reason, remedy)

    def open(self, n: int, reason: str, remedy: str = "", observed: float | None = None) -> VerdictRow:
        """The points do not tell."""
        return self._row("INCONCLUSIVE", n, observed, reason, remedy)

    def skipped(self, reason: str) -> VerdictRow:
        """A row that does not apply."""
        return self._row("SKIP", 0, None, reason)

    def _row(
        self, status: Status, n: int, observed: float | None, reason: str = "", remedy: str = ""
    ) -> VerdictRow:
        return VerdictRow(
            id=f"sweep.{self.id}",
            target=self.text,
            observed=observed,
            bound=self.bound,
            unit="",
            n=n,
            status=status,
            severity=self.severity,
            margin=margin(observed, self.bound, met=status == "PASS"),
            reason=reason,
            group="sweep",
            method=self.method,
            remedy=remedy,
        )
