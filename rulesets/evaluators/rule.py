"""A rule that is ready to be judged, and what judging it found."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from rulesets.errors import Unanswerable
from rulesets.evaluators.row import VerdictRow, margin

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from rulesets.evaluators.row import Group, Status
    from rulesets.evidence import Evidence
    from rulesets.ruleset import Ruleset
    from rulesets.target import Severity


@dataclass(frozen=True, slots=True)
class Case:
    """What is judged.

    Attributes:
        ruleset: The rules.
        run: The run.
        others: Further runs of the same side, for changes.
        baseline: The runs that they are compared with.
        audits: What audits found, by their name.
    """

    ruleset: Ruleset
    run: Evidence
    others: Sequence[Evidence] = ()
    baseline: Sequence[Evidence] = ()
    audits: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    @property
    def report(self) -> Mapping[str, Any]:
        """The report of the run."""
        return self.run.report


@dataclass(frozen=True, slots=True)
class RuleOutcome:
    """What judging a rule found; see `VerdictRow`.

    Attributes:
        bound: Which of its bounds, where a rule has several; None for the rule's own.
        met: Whether the figure itself meets the bound; None where the status says so.
    """

    status: Status
    observed: float | None = None
    n: int = 0
    method: str = ""
    limit: float | None = None
    reason: str = ""
    remedy: str = ""
    bound: float | None = None
    met: bool | None = None


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule.

    Attributes:
        id: Its name in the verdict, unique in a ruleset.
        kind: What kind of rule it is: `validity.min_samples`, `latency.order_stat`…
        group: Where it stands in the verdict.
        text: The rule as text.
        judge: Finds out what became of it.
        bound: The bound, in `unit`.
        unit: The unit that it is written in.
        severity: Whether it counts for the whole.
        source: Where it comes from.
    """

    id: str
    kind: str
    group: Group
    text: str
    judge: Callable[[Case], RuleOutcome]
    bound: float | None = None
    unit: str = ""
    severity: Severity = "fail"
    source: str = ""

    def row(self, case: Case) -> VerdictRow:
        """Judge a run by it. What nobody can answer is inconclusive."""
        try:
            found = self.judge(case)
        except Unanswerable as gap:
            found = RuleOutcome("INCONCLUSIVE", reason=str(gap), remedy=gap.remedy)
        return self._row(found)

    def skipped(self, name: str) -> VerdictRow:
        """Leave it out, because somebody asked for that."""
        return self._row(RuleOutcome("SKIP", reason=f"left out on request (--skip {name})"))

    def _row(self, found: RuleOutcome) -> VerdictRow:
        # What is only shown makes no run invalid.
        status = "FAIL" if found.status == "INVALID" and self.severity != "fail" else found.status
        bound = self.bound if found.bound is None else found.bound
        met = found.status not in {"FAIL", "INVALID"} if found.met is None else found.met
        return VerdictRow(
            id=self.id,
            target=self.text,
            observed=found.observed,
            bound=bound,
            unit=self.unit,
            n=found.n,
            status=status,
            severity=self.severity,
            margin=margin(found.observed, bound, met=met),
            reason=found.reason,
            group=self.group,
            method=found.method,
            limit=found.limit,
            remedy=found.remedy,
            source=self.source,
        )


NOT_MEASURED: Final = "not measured, so counted as failed"


def figure_in_words(value: float, unit: str) -> str:
    """A figure with its unit: `1%`, `500 ms`."""
    after = unit if unit in {"", "%"} else f" {unit}"
    return f"{value:.6g}{after}"


def is_asked_for(name: str, observed: float | None, op: str, bound: float, unit: str) -> str:
    """Say why a bound is not met."""
    if observed is None:
        return f"the run has no samples of {name}: {NOT_MEASURED}"
    return f"{name} = {figure_in_words(observed, unit)}; required: {op} {figure_in_words(bound, unit)}"
