"""Changes from a baseline: the figures of one group of runs compared with those of another.

A run is one observation, however many requests it has: they share the state of one server. So it takes
several runs on each side to tell a change from the noise between runs; their number is the row's `n`.

A change fails where it is beyond its bound *and* significant. What chance explains neither fails nor, with
enough runs, counts as inconclusive; `tost` demands more: that the bound is met at the confidence asked for.
"""

from __future__ import annotations

import math
from statistics import fmean, median, variance
from typing import TYPE_CHECKING, Final, Literal

from lazy_dataclasses import dataclass, replace
from rulesets import baseline_targets
from rulesets.evaluators import facts, figure
from rulesets.evaluators.limit import SEED
from rulesets.evaluators.rule_row import Rule, RuleOutcome, is_asked_for
from rulesets.evaluators.targets import AGAIN, MISSING, missing, require_definitions
from rulesets.expression import unparse
from rulesets.quantity import COMPARE
from rulesets.statistics import bootstrap, mann_whitney, student
from rulesets.statistics.probability import exactly

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from rulesets.evaluators.rule_row import Case
    from rulesets.evidence import Evidence
    from rulesets.ruleset import Ruleset
    from rulesets.target import Target

Test = Literal["none", "mann_whitney", "bootstrap", "tost"]

KINDS: Final = (
    "delta.none",
    "delta.mann_whitney",
    "baseline.mann_whitney",
    "baseline.bootstrap",
    "baseline.tost",
)

_FURTHER: Final = "--also RUN, --baseline RUN"
_GIVE: Final = "give the runs to compare with: --baseline RUN, once for each"


@dataclass(frozen=True, slots=True)
class Change:
    """A demand on the change of a figure.

    Attributes:
        alpha: The chance of a false alarm.
    """

    target: Target
    test: Test
    alpha: float = 0.05
    min_runs: int = 1


def rules(ruleset: Ruleset) -> Iterator[Rule]:
    """One rule for each target of a change, and for each metric of the baseline."""
    for target in ruleset.targets:
        if target.delta:
            sure = target.confidence
            change = Change(
                target,
                "none" if sure is None else "mann_whitney",
                0.05 if sure is None else round(1 - sure.level, 12),
            )
            yield _rule(change, f"delta.{change.test}")
    if ruleset.baseline is not None:
        for target in baseline_targets.targets(ruleset.baseline):
            demand = ruleset.baseline
            change = Change(target, demand.test, demand.alpha, demand.min_runs)
            yield _rule(change, f"baseline.{change.test}")


def _rule(change: Change, kind: str) -> Rule:
    target = change.target
    further = f" ({change.test})" if change.test in {"bootstrap", "tost"} else ""
    return Rule(
        id=target.id,
        kind=kind,
        group="baseline",
        text=f"{unparse(target)}{further}",
        evaluate=lambda case: evaluate(change, case),
        bound=target.value,
        unit=target.unit,
        severity=target.severity,
        source=target.source,
    )


def evaluate(change: Change, case: Case) -> RuleOutcome:
    """Evaluate the change of a figure.

    Raises:
        Unanswerable: A run does not have the figure.
    """
    target = change.target
    if not case.baseline:
        reason = f"{figure.name_of(target)} has nothing to be compared with"
        return RuleOutcome(MISSING[target.on_missing], reason=reason, remedy=_GIVE)
    after = _figures(target, case, (case.run, *case.others))
    before = _figures(target, case, case.baseline)
    if after is None or before is None:
        return missing(target, 0, case.report)
    sides = Sides(tuple(before), tuple(after))
    fewest = _fewest(change)
    if change.test == "none" or min(len(before), len(after)) >= fewest:
        outcome = _in_doubt(change, _TESTS[change.test](change, sides), case)
        return replace(outcome, method="; ".join(filter(None, (outcome.method, _of_which_invalid(case)))))
    return replace(
        sides.outcome(target, _of_which_invalid(case)),
        status="INCONCLUSIVE",
        reason=f"{len(after)} runs against {len(before)} are too few: {fewest} per side are needed",
        remedy=f"measure {fewest} runs on each side: {_FURTHER}",
    )


def _in_doubt(change: Change, outcome: RuleOutcome, case: Case) -> RuleOutcome:
    """The outcome of a change between intervals: both extremes must have one outcome.

    The change is largest with the baseline at its least and the runs at their most, and smallest the other
    way round.
    """
    runs = ((case.run, *case.others), case.baseline)
    if not any(run.ends for side in runs for run in side):
        return outcome
    (after_low, after_high), (before_low, before_high) = (_ends(change.target, side) for side in runs)
    extremes = (Sides(before_high, after_low), Sides(before_low, after_high))
    ends = [_TESTS[change.test](change, sides) for sides in extremes]
    if all(end.status == outcome.status for end in ends):
        return outcome
    low, high = (change.target.in_unit(sides.change) for sides in extremes)
    name, unit = figure.name_of(change.target), change.target.unit
    return replace(
        outcome,
        status="INCONCLUSIVE",
        reason=f"chunks were read late: {name} changed by {low:+.4g} to {high:+.4g} {unit}".rstrip(),
        remedy=AGAIN,
    )


def _ends(target: Target, runs: Sequence[Evidence]) -> tuple[list[float], list[float]]:
    """The least and the most that the figure of each run can be."""
    figures = [
        [
            value
            for figures_of_run in (run, *run.ends)
            if (value := figure.observe(target, figures_of_run).value) is not None
        ]
        for run in runs
    ]
    return list(map(min, figures)), list(map(max, figures))


def _of_which_invalid(case: Case) -> str:
    """The number of runs that are invalid by their reports, in words; separate rules judge this run."""
    invalid = sum(
        facts.section(run.report, "validity").get("valid") is False for run in (*case.others, *case.baseline)
    )
    return f"{invalid} of the other runs invalid" if invalid else ""


def _figures(target: Target, case: Case, runs: Sequence[Evidence]) -> list[float] | None:
    """The figure of each run; None where one has none."""
    values = []
    for run in runs:
        require_definitions(target, case.ruleset.definitions, run.definitions)
        values.append(figure.observe(target, run).value)
    return None if None in values else [value for value in values if value is not None]


def _fewest(change: Change) -> int:
    """The number of runs per side from which the test can find a change."""
    to_be_sure = mann_whitney.fewest(change.alpha) if change.test == "mann_whitney" else 0
    return max(change.min_runs, 2, to_be_sure)


@dataclass(frozen=True, slots=True)
class Sides:
    """The figures of two groups of runs."""

    before: Sequence[float]
    after: Sequence[float]

    @property
    def are_positive(self) -> bool:
        """Whether all figures have logarithms, so that a change is a ratio."""
        return all(0 < value < math.inf for value in (*self.before, *self.after))

    @property
    def change(self) -> float:
        """By which share of the baseline the figure is larger.

        The median of all pairs' ratios, one of each side (Hodges and Lehmann's estimate, of logarithms); that
        of the medians where a figure is 0 or infinite.
        """
        if self.are_positive:
            before, after = self.logarithms
            return math.expm1(median(later - earlier for earlier in before for later in after))
        earlier, later = median(self.before), median(self.after)
        if later == earlier:
            return 0.0
        return (later - earlier) / earlier if earlier and math.isfinite(earlier) else math.inf

    @property
    def logarithms(self) -> tuple[list[float], list[float]]:
        """Of both sides."""
        return [math.log(value) for value in self.before], [math.log(value) for value in self.after]

    def outcome(self, target: Target, words: str) -> RuleOutcome:
        """A pass, for the caller to replace where the bound is missed."""
        change, bound = self.change, target.bound
        runs = f"change of {len(self.after)} run{'s' * (len(self.after) > 1)} from {len(self.before)}"
        return RuleOutcome(
            "PASS",
            target.in_unit(change) if math.isfinite(change) else None,
            len(self.before) + len(self.after),
            "; ".join(filter(None, (runs, words))),
            met=COMPARE[target.op](change, bound),
        )


def _plain(change: Change, sides: Sides) -> RuleOutcome:
    outcome = sides.outcome(change.target, "")
    return outcome if outcome.met else _worse(change.target, outcome)


def _mann_whitney(change: Change, sides: Sides) -> RuleOutcome:
    test = mann_whitney.u_test(sides.before, sides.after)
    outcome = sides.outcome(change.target, f"Mann-Whitney, {test.method}, p = {test.p:.3g}")
    return _significant(change.target, outcome, significant=test.p <= change.alpha)


def _bootstrap(change: Change, sides: Sides) -> RuleOutcome:
    if not sides.are_positive:
        return _without_ratio(change.target, sides)
    shift = bootstrap.two_sample_interval(*sides.logarithms, 1 - exactly(change.alpha), SEED)
    low, high = map(math.expm1, shift)
    words = f"bootstrap, {100 * (1 - change.alpha):g} %: {100 * low:+.3g} to {100 * high:+.3g} %"
    outcome = sides.outcome(change.target, words)
    return _significant(change.target, outcome, significant=not low <= 0 <= high)


def _significant(target: Target, outcome: RuleOutcome, *, significant: bool) -> RuleOutcome:
    if outcome.met:
        return outcome
    if significant:
        return _worse(target, outcome)
    return replace(outcome, method=f"{outcome.method}; no significant difference")


def _tost(change: Change, sides: Sides) -> RuleOutcome:
    """The one-sided test of the two that faster runs cannot fail.

    D. J. Schuirmann, J. Pharmacokinet. Biopharm. 15, 1987; by Welch's t, of logarithms.
    """
    target = change.target
    if not sides.are_positive:
        return _without_ratio(target, sides)
    upper = target.op in {"<", "<="}
    limit, words = _welch(sides, change.alpha, upper=upper)
    outcome = replace(sides.outcome(target, words), limit=target.in_unit(limit))
    if not outcome.met:
        return _worse(target, outcome)
    if COMPARE[target.op](limit, target.bound):
        return outcome
    name = f"the change of {figure.name_of(target)}, at its {words},"
    reason = is_asked_for(name, outcome.limit, target.op, target.value, target.unit)
    remedy = f"measure more runs on each side: {_FURTHER}"
    return replace(outcome, status="INCONCLUSIVE", reason=reason, remedy=remedy)


def _without_ratio(target: Target, sides: Sides) -> RuleOutcome:
    reason = f"{figure.name_of(target)} is 0 in a run, and a test of ratios has nothing to say of it"
    return replace(
        sides.outcome(target, ""), status="INCONCLUSIVE", reason=reason, remedy="compare by mann_whitney"
    )


def _worse(target: Target, outcome: RuleOutcome) -> RuleOutcome:
    name = f"the change of {figure.name_of(target)}"
    if outcome.observed is None:
        reason = f"{figure.name_of(target)} was 0 in the baseline, and no longer is"
    else:
        reason = is_asked_for(name, outcome.observed, target.op, target.value, target.unit)
    return replace(outcome, status="FAIL", reason=reason)


def _welch(sides: Sides, alpha: float, *, upper: bool) -> tuple[float, str]:
    """The one-sided limit of the change, and the method in words."""
    before, after = sides.logarithms
    parts = [variance(side) / len(side) for side in (before, after)]
    error = sum(parts)
    freedom = (
        error**2 / sum(part**2 / (len(side) - 1) for part, side in zip(parts, (before, after), strict=True))
        if error
        else 1
    )
    far = student.bound(1 - 2 * alpha, max(1, math.floor(freedom))) * math.sqrt(error)
    ratio = fmean(after) - fmean(before) + (far if upper else -far)
    side = "upper" if upper else "lower"
    return math.expm1(ratio), f"{side} {100 * (1 - alpha):g} % limit (TOST, Welch)"


_TESTS: Final[Mapping[Test, Callable[[Change, Sides], RuleOutcome]]] = {
    "none": _plain,
    "mann_whitney": _mann_whitney,
    "bootstrap": _bootstrap,
    "tost": _tost,
}
