"""Likely mistakes in a valid ruleset: rules that another rule implies, or that no such run can pass."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, Final

from rulesets import bounds
from rulesets.expression import unparse
from rulesets.statistics import early_stopping, mann_whitney, order_statistics, wilson

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rulesets.ruleset import Ruleset
    from rulesets.target import Target

_SEVERITIES: Final = ("info", "warn", "fail")


def warnings(ruleset: Ruleset) -> Iterator[str]:
    """Describe each likely mistake in a sentence."""
    for target in ruleset.targets:
        yield from _out_of_reach(target, _least_samples(ruleset))
    for target, other in combinations(ruleset.targets, 2):
        yield from _shadowed(target, other)
    yield from _unsure(ruleset)


def _least_samples(ruleset: Ruleset) -> int:
    """The fewest requests that a valid run can have completed."""
    validity, rows = ruleset.validity, ruleset.dataset.perf_samples or 1
    passes = (validity.min_passes or 0) if not validity.dataset_multiple else max(validity.min_passes or 0, 1)
    return max(validity.min_samples or 0, passes * rows)


def _out_of_reach(target: Target, least: int) -> Iterator[str]:
    """Whether a run of the minimum length can prove a target with every request within the bound."""
    needed = _fewest(target)
    if needed is not None and needed > least and target.severity != "info":
        so_far = f"a valid run may have only {least}" if least else "nothing says how many a run must have"
        yield (
            f"{_named(target)} cannot pass with fewer than {needed} requests, and {so_far}: "
            f"set validity.min_samples: {needed}"
        )


def _fewest(target: Target) -> int | None:
    """The fewest requests, all within the bound, that prove the target; None without a confidence."""
    confidence, p = target.confidence, target.percentile
    if confidence is None or target.where:
        return None
    side = confidence.side or "upper"
    if target.quantity.kind == "interactivity":
        side = "upper"  # its percentiles are those of TPOT
    match confidence.method:
        case "early_stopping" if p is not None:
            return early_stopping.samples_needed(0, 0, p, confidence.form or "test", confidence.level)
        case "effective" | "order_stat" if p is not None:
            return order_statistics.samples_needed(0, 0, p, confidence.level, side)
        case "wilson" if target.quantity.kind in {"error", "good"} and 0 < target.bound < 1:
            met = 0 if side == "upper" else 1
            return wilson.samples_needed(met, 1, target.bound, confidence.level, side)
    return None


def _shadowed(target: Target, other: Target) -> Iterator[str]:
    """Whether one of two targets follows from the other."""
    if bounds.subject(target) != bounds.subject(other) or target.confidence != other.confidence:
        return
    for weak, strong in ((target, other), (other, target)):
        graver = _SEVERITIES.index(strong.severity) >= _SEVERITIES.index(weak.severity)
        if graver and bounds.of(strong).inside(bounds.of(weak)):
            yield f"{_named(weak)} says nothing more than {_named(strong)}"
            return


def _named(target: Target) -> str:
    written = unparse(target)
    return written if target.id == written else f"{target.id} ({written})"


def _unsure(ruleset: Ruleset) -> Iterator[str]:
    """Whether a test of a change can ever find one."""
    baseline = ruleset.baseline
    if baseline is None or baseline.test != "mann_whitney":
        return
    runs = baseline.min_runs
    least = mann_whitney.least_p(runs, runs)
    if least > baseline.alpha:
        yield (
            f"baseline.min_runs: with {runs} runs a side no change is significant at {baseline.alpha:g} "
            f"(the least p is {least:.3g}); ask for {mann_whitney.fewest(baseline.alpha)}"
        )
