"""The rules over several runs, one row for each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from rulesets.sweeps import accuracy_regions, agreement, counting, greatest_load, offline, pareto_steps
from rulesets.sweeps.declarations import Curve
from rulesets.sweeps.point import standing
from rulesets.sweeps.sweep_row import SweepRule

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from rulesets.demands import Sweep
    from rulesets.evaluators.rule_row import VerdictRow
    from rulesets.sweeps.point import Point

_PER_REGION: Final = "accuracy_per_region"
_RUNS: Final = "accuracy_runs"

CHECKS: Final[Mapping[str, Callable[[Any, Sequence[Point], Curve], VerdictRow]]] = {
    "offline_tps_at_least": offline.throughput,
    "offline_concurrency_at_least": offline.concurrency,
    "tps_per_user_consistency": agreement.tps_per_user,
    "config_identical": agreement.same_settings,
    _PER_REGION: accuracy_regions.per_region,
    _RUNS: accuracy_regions.in_runs,
}
"""The checks of a sweep, by the names that files know them by; `accuracy_runs` is the `runs` of a gate."""


def evaluate(
    sweep: Sweep,
    points: Sequence[Point],
    *,
    c_max: int | None = None,
    c_min: int | None = None,
    baseline: Sequence[Point] = (),
) -> tuple[VerdictRow, ...]:
    """Judge several runs together: one row a rule, always.

    Args:
        sweep: The rules.
        points: The runs, in any order.
        c_max: The greatest concurrency of the curve, as declared; None for that of its greatest point.
        c_min: Where Ultra Low ends, as declared; None for the lowest point.
        baseline: The runs of the sweep that ours must dominate, where the rules ask for that.
    """
    curve = Curve(c_max or counting.c_max_of(standing(points)), c_min)
    return tuple(_rows(sweep, points, curve, baseline))


def names(sweep: Sweep) -> tuple[str, ...]:
    """The ids of all rows that `evaluate` gives, whatever the points."""
    return tuple(row.id for row in evaluate(sweep, ()))


def _rows(
    sweep: Sweep, points: Sequence[Point], curve: Curve, baseline: Sequence[Point]
) -> Iterator[VerdictRow]:
    yield from counting.rows(sweep.points, points, curve)
    stand = standing(points)
    for name, parameters in _checks(sweep):
        yield CHECKS[name](parameters, stand, curve) if name in CHECKS else _unknown(name)
    if sweep.pareto:
        yield from pareto_steps.rows(sweep.pareto, points, baseline)
    if sweep.search:
        yield greatest_load.row(sweep.search, points)


def _checks(sweep: Sweep) -> Iterator[tuple[str, Any]]:
    """The checks in an order that respects dependencies.

    Where each region has exactly one accuracy result, a result consists of the scores that several runs must
    show, and the point that is elected as Offline shows them for Offline too.
    """
    runs = [parameters for name, parameters in sweep.checks if name == _RUNS]
    exact = any(name == _PER_REGION and isinstance(parameters, Mapping) for name, parameters in sweep.checks)
    for name, parameters in sweep.checks:
        if exact and name == _PER_REGION:
            scores = [run["metric"] for run in runs]
            results = max((int(run["runs"]) for run in runs), default=None)
            yield name, {**parameters, "scores": scores, "results": results}
        elif exact and name == _RUNS:
            yield name, {**parameters, "elected": parameters.get("combine") != "mean"}
        else:
            yield name, parameters


def _unknown(name: str) -> VerdictRow:
    """A check of rules that another version kept in a log."""
    return SweepRule(name, name).open(0, "a check unknown to this version", "use rules of this version")
