"""A rule that is ready to be evaluated, its outcome, and its row of a verdict."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final, Literal

from lazy_dataclasses import dataclass, field
from rulesets.errors import Unanswerable
from rulesets.target import Severity  # noqa: TC001 (read at runtime: a stored verdict is validated)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from rulesets.evidence import Evidence
    from rulesets.ruleset import Ruleset

Status = Literal["PASS", "FAIL", "INCONCLUSIVE", "INVALID", "SKIP"]
Group = Literal[
    "validity", "load", "target", "accuracy", "goodput", "audit", "steady_state", "baseline", "sweep"
]


@dataclass(frozen=True, slots=True)
class VerdictRow:
    """The outcome of one rule.

    Attributes:
        id: The target's id, or `validity.KEY`, `load.KEY`, `audit.NAME`… for all other rules.
        target: The rule as text.
        observed: The figure, in `unit`; None when there is none, or an infinite one.
        bound: The bound, in `unit`; None for a rule that bounds no figure.
        unit: The unit that the rule is written in; empty for counts and fractions.
        n: The number of samples: gaps for itl, runs for a change, requests for all others.
        status: `PASS`; `FAIL` for a target that is missed or was not measured; `INVALID` for a rule that the
            run itself breaks; `INCONCLUSIVE` where there are too few samples for the demanded
            confidence; `SKIP` for a rule that does not apply.
        severity: Whether it counts for the whole (`fail`) or is only shown (`warn`, `info`).
        margin: The distance of the figure from the bound as a share of it, negative on the wrong side; None
            where the bound is 0 or there is no figure.
        reason: Why it did not pass; empty when it did.
        method: How the figure was computed, and its confidence, in words.
        limit: The confidence limit that must meet the bound, in `unit`; None where the rule asks for none, or
            where there are too few samples for any.
        remedy: What would help; empty when it passed.
    """

    id: str
    target: str
    observed: float | None
    bound: float | None
    unit: str
    n: int
    status: Status
    severity: Severity
    margin: float | None
    reason: str
    group: Group
    method: str = ""
    limit: float | None = None
    remedy: str = ""
    source: str = ""


def margin(observed: float | None, bound: float | None, *, met: bool) -> float | None:
    """The distance from the bound as a share of the bound, negative for a miss."""
    if observed is None or not bound:
        return None
    share = abs(observed - bound) / abs(bound)
    if not math.isfinite(share):
        return None
    return share if met else 0.0 - share  # -share would be -0.0 on the bound itself


@dataclass(frozen=True, slots=True)
class Case:
    """The evidence for a rule."""

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
    """The outcome of a rule; see `VerdictRow`.

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
        kind: What kind of rule it is: `validity.min_samples`, `latency.order_stat`…
        evaluate: Gives its outcome on a run.
    """

    id: str
    kind: str
    group: Group
    text: str
    evaluate: Callable[[Case], RuleOutcome]
    bound: float | None = None
    unit: str = ""
    severity: Severity = "fail"
    source: str = ""

    def row(self, case: Case) -> VerdictRow:
        """Evaluate this rule on a run; inconclusive without the evidence."""
        try:
            outcome = self.evaluate(case)
        except Unanswerable as gap:
            outcome = RuleOutcome("INCONCLUSIVE", reason=str(gap), remedy=gap.remedy)
        return self._row(outcome)

    def skipped(self, name: str) -> VerdictRow:
        """The row of a rule that is left out on request."""
        return self._row(RuleOutcome("SKIP", reason=f"left out on request (--skip {name})"))

    def _row(self, outcome: RuleOutcome) -> VerdictRow:
        # A rule that only warns or informs does not make the run invalid.
        status = "FAIL" if outcome.status == "INVALID" and self.severity != "fail" else outcome.status
        bound = self.bound if outcome.bound is None else outcome.bound
        met = outcome.status not in {"FAIL", "INVALID"} if outcome.met is None else outcome.met
        return VerdictRow(
            id=self.id,
            target=self.text,
            observed=outcome.observed,
            bound=bound,
            unit=self.unit,
            n=outcome.n,
            status=status,
            severity=self.severity,
            margin=margin(outcome.observed, bound, met=met),
            reason=outcome.reason,
            group=self.group,
            method=outcome.method,
            limit=outcome.limit,
            remedy=outcome.remedy,
            source=self.source,
        )


NOT_MEASURED: Final = "not measured, so counted as failed"
_MOST_DECIMALS: Final = 9


def figure_text(figure: float, bound: float | None = None, unit: str = "") -> str:
    """A figure with three digits, or more to be seen on its side of the bound; whole numbers in full."""
    if not math.isfinite(figure):
        return str(figure)
    least = 0 if figure == round(figure) else max(0, 2 - math.floor(math.log10(abs(figure))))
    for places in range(least, _MOST_DECIMALS):
        if bound is None or figure == bound or round(figure, places) != round(bound, places):
            return f"{figure:,.{places}f} {unit}".rstrip()
    return bound_text(figure, unit)


def bound_text(bound: float, unit: str = "") -> str:
    """A bound as written: `1 %`, `1,000 ms`."""
    return f"{bound:,.10g} {unit}".rstrip()


def is_asked_for(name: str, observed: float | None, op: str, bound: float, unit: str) -> str:
    """Say why a bound is not met."""
    if observed is None:
        return f"the run has no samples of {name}: {NOT_MEASURED}"
    return f"{name} = {figure_text(observed, bound, unit)}; required: {op} {bound_text(bound, unit)}"
