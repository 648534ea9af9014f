"""The greatest load at which every target is met: from the highest point that passes to the next that fails.

DistServe (arXiv 2401.09670) calls it goodput; here that word is for the requests of one run, and this is a
result of several. What lies between two points is not guessed: their distance must be within the tolerance.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from rulesets.evaluators import facts
from rulesets.sweeps.sweep_row import SweepRule

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rulesets.evaluators.rule_row import VerdictRow
    from rulesets.sweeps.point import Point

TOLERANCE: Final = 0.05


def row(settings: Mapping[str, Any], points: Sequence[Point]) -> VerdictRow:
    """Judge whether the points determine the maximum.

    Args:
        settings: `maximise`: `rate` (requests per second) or `concurrency`; `tolerance`, as a share.
        points: All of them, each with its verdict.
    """
    what, tolerance = str(settings.get("maximise", "rate")), float(settings.get("tolerance", TOLERANCE))
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
        return rule.missed(n, f"not even a {what} of {lowest:g} meets them", f"measure below {lowest:g}")
    if not passing:
        return rule.open(n, "no point passes, and not every one fails: see their verdicts", "repeat them")
    best = max(passing)
    below = [load for load in failing if load <= best]
    if below:
        loads = ", ".join(f"{load:g}" for load in below)
        return rule.open(
            n, f"{best:g} passes, and yet {loads} fails", "repeat these points, with more requests", best
        )
    above = min((load for load in failing if load > best), default=None)
    if above is None:
        return rule.open(n, f"nothing above {best:g} fails", f"measure above {best:g}", best)
    if (above - best) / best > tolerance:
        between = (above + best) / 2
        reason = f"{best:g} passes and {above:g} fails, which is {(above - best) / best:.1%} apart"
        return rule.open(n, reason, f"measure about {between:g}", best)
    return rule.met(n, best)


def _load(point: Point, what: str) -> float | None:
    """The load of a point: as requested, or as reached for a rate that varies."""
    if what == "concurrency":
        return None if point.offline else point.concurrency
    asked = facts.number(facts.load(point.report).get("rate"))
    return asked or facts.number(facts.section(point.report, "throughput").get("qps"))


def _status(point: Point) -> str | None:
    return None if point.verdict is None else point.verdict.status
