"""The rules over several runs, one row for each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from rulesets.evaluators import facts
from rulesets.evaluators.rule_row import bound_text
from rulesets.sweeps import accuracy_regions, counting, pareto_steps, point_checks
from rulesets.sweeps.point import standing
from rulesets.sweeps.sweep_row import Curve, SweepRule

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from rulesets.demands import Sweep
    from rulesets.evaluators.rule_row import VerdictRow
    from rulesets.sweeps.point import Point


_TOLERANCE: Final = 0.05


def greatest_load(settings: Mapping[str, Any], points: Sequence[Point]) -> VerdictRow:
    """Judge whether the points determine the greatest load at which every target is met.

    DistServe (arXiv 2401.09670) calls it goodput; here that word is for the requests of one run. What lies
    between two points is not guessed: their distance must be within the tolerance.

    Args:
        settings: `maximise`: `rate` (requests per second) or `concurrency`; `tolerance`, as a share.
        points: All of them, each with its verdict.
    """
    what, tolerance = str(settings.get("maximise", "rate")), float(settings.get("tolerance", _TOLERANCE))
    rule = SweepRule(
        "search",
        f"greatest {what} that meets all targets, within {tolerance:.3g} of it",
        method="the highest point that passes, and the lowest above it that does not",
    )
    by_load = sorted(
        ((load, point) for point in points if (load := _load(point, what)) is not None),
        key=lambda load_and_point: load_and_point[0],
    )
    if not by_load:
        return rule.missed(0, f"no point has a {what}", "measure at several")
    return _verdict_of(rule, tolerance, what, by_load)


def _verdict_of(
    rule: SweepRule, tolerance: float, what: str, by_load: Sequence[tuple[float, Point]]
) -> VerdictRow:
    n = len(by_load)
    passing = [load for load, point in by_load if _status(point) == "PASS"]
    failing = [load for load, point in by_load if _status(point) == "FAIL"]
    if not passing and len(failing) == n:
        lowest = by_load[0][0]
        return rule.missed(
            n, f"not even a {what} of {bound_text(lowest)} meets them", f"measure below {bound_text(lowest)}"
        )
    if not passing:
        return rule.open(n, "no point passes, and not every one fails: see their verdicts", "repeat them")
    best = max(passing)
    below = [load for load in failing if load <= best]
    if below:
        loads = ", ".join(f"{bound_text(load)}" for load in below)
        return rule.open(
            n,
            f"{bound_text(best)} passes, and yet {loads} fails",
            "repeat these points, with more requests",
            best,
        )
    above = min((load for load in failing if load > best), default=None)
    if above is None:
        return rule.open(
            n, f"nothing above {bound_text(best)} fails", f"measure above {bound_text(best)}", best
        )
    if (above - best) / best > tolerance:
        between = (above + best) / 2
        apart = f"which is {100 * (above - best) / best:.1f} % apart"
        reason = f"{bound_text(best)} passes and {bound_text(above)} fails, {apart}"
        return rule.open(n, reason, f"measure about {bound_text(between)}", best)
    return rule.met(n, best)


def _load(point: Point, what: str) -> float | None:
    """The load of a point: as requested, or as reached for a rate that varies."""
    if what == "concurrency":
        return None if point.offline else point.concurrency
    asked = facts.number(facts.load(point.report).get("rate"))
    return asked or facts.number(facts.section(point.report, "throughput").get("qps"))


def _status(point: Point) -> str | None:
    return None if point.verdict is None else point.verdict.status


_PER_REGION: Final = "accuracy_per_region"
_RUNS: Final = "accuracy_runs"

CHECKS: Final[Mapping[str, Callable[[Any, Sequence[Point], Curve], VerdictRow]]] = {
    "offline_tps_at_least": point_checks.offline_throughput,
    "offline_concurrency_at_least": point_checks.offline_concurrency,
    "tps_per_user_consistency": point_checks.tps_per_user,
    "config_identical": point_checks.same_settings,
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
        yield greatest_load(sweep.search, points)


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
