"""The demands on the steady state of a run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from rulesets.evaluators import facts
from rulesets.evaluators.demand import bounded
from rulesets.evaluators.rule_row import Rule, RuleOutcome, bound_text, figure_text
from rulesets.statistics import mann_kendall

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from rulesets.evaluators.rule_row import Case
    from rulesets.ruleset import Ruleset

KINDS: Final = ("steady_state.required", "steady_state.min_blocks", "steady_state.max_drift")

CHANCE: Final = 0.05
"""A drift counts if chance alone makes as much less often than this."""

FEWEST_BLOCKS: Final = 5
"""With four, not even a perfect trend is beyond chance: its exact p is 0.083."""

_LONGER: Final = "run for longer, with a warm-up: --duration, --warmup"


def rules(ruleset: Ruleset) -> Iterator[Rule]:
    """One rule for each demand on the steady state."""
    wanted = ruleset.steady_state
    if wanted.required:
        yield Rule(
            "steady_state.required", "steady_state.required", "steady_state", "steady state: yes", _required
        )
    if wanted.min_blocks is not None:
        yield Rule(
            "steady_state.min_blocks",
            "steady_state.min_blocks",
            "steady_state",
            f"min_blocks: {wanted.min_blocks}",
            lambda case: _min_blocks(wanted.min_blocks or 0, case),
            wanted.min_blocks,
        )
    if wanted.max_drift is not None:
        yield Rule(
            "steady_state.max_drift",
            "steady_state.max_drift",
            "steady_state",
            f"max_drift: {wanted.max_drift:g}",
            lambda case: _max_drift(wanted.max_drift or 0.0, case),
            wanted.max_drift,
        )


def _steady_state(case: Case) -> Mapping[str, Any]:
    return facts.section(case.report, "steady_state")


def _required(case: Case) -> RuleOutcome:
    steady = _steady_state(case)
    blocks = int(facts.number(steady.get("blocks")) or 0)
    if steady.get("found") is True:
        return RuleOutcome("PASS", n=blocks, method=f"{blocks} blocks without a drift")
    if facts.was_cut_short(case.report):
        return RuleOutcome("SKIP", reason=facts.CUT_SHORT)
    why = steady.get("reason") or "the run has none"
    return RuleOutcome("INVALID", n=blocks, reason=f"no steady state was found: {why}", remedy=_LONGER)


def _min_blocks(bound: int, case: Case) -> RuleOutcome:
    steady = _steady_state(case)
    if facts.was_cut_short(case.report):
        return RuleOutcome("SKIP", reason=facts.CUT_SHORT)
    blocks = facts.number(steady.get("blocks")) if steady.get("found") is True else None
    return bounded("the number of blocks of the steady state", blocks, ">=", bound, remedy=_LONGER)


def _max_drift(bound: float, case: Case) -> RuleOutcome:
    """The figure that drifts worst, of latency and throughput over equal spans of the run.

    Raises:
        Unanswerable: The evidence has no blocks of time.
    """
    series = {
        "latency": case.run.sample("latency", ()).block_means(),
        "throughput": case.run.rate("qps", ()).blocks,
    }
    if min(map(len, series.values())) < FEWEST_BLOCKS:
        blocks = min(map(len, series.values()))
        reason = f"{blocks} spans of time are too few to see a drift: {FEWEST_BLOCKS} are needed"
        return RuleOutcome("INCONCLUSIVE", n=blocks, reason=reason, remedy=_LONGER)
    # A significant drift goes before a greater one that chance may explain.
    name, drift, chance = max(
        ((name, *_drift(values)) for name, values in series.items()),
        key=lambda row: (row[1] > bound and row[2] <= CHANCE, row[1]),
    )
    method = f"{name}: Theil-Sen, {len(series[name])} blocks; Mann-Kendall, p = {chance:.3g}"
    outcome = RuleOutcome("PASS", drift, len(series[name]), method)
    if drift <= bound:
        return outcome
    reason = f"{name} changes by {figure_text(drift, bound)} of its mean; required: <= {bound_text(bound)}"
    if chance <= CHANCE:
        return RuleOutcome("INVALID", drift, outcome.n, method, reason=reason, remedy=_LONGER)
    return RuleOutcome(
        "INCONCLUSIVE",
        drift,
        outcome.n,
        method,
        reason=f"{reason}; chance alone may do as much",
        remedy=_LONGER,
        met=False,
    )


def _drift(values: Sequence[float]) -> tuple[float, float]:
    """The change of a figure from start to end, as a share of the mean, and the p value."""
    trend, mean = mann_kendall.trend(values), abs(sum(values)) / len(values)
    if trend is None or not mean:
        return 0.0, 1.0
    return abs(trend.slope) * (len(values) - 1) / mean, trend.p
