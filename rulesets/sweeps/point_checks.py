"""The checks of a sweep: an Offline run against the curve, and what all points must share."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from rulesets.evaluators import facts
from rulesets.sweeps.point import FigureAxis
from rulesets.sweeps.sweep_row import SweepRule

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rulesets.evaluators.rule_row import VerdictRow
    from rulesets.sweeps.point import Point
    from rulesets.sweeps.sweep_row import Curve
    from rulesets.target import Severity


FACTOR: Final = 0.98
_SYSTEM_TPS: Final = FigureAxis("output_tps")
_NO_OFFLINE: Final = (
    "no point is a dedicated Offline run: Offline is elected, and is the point at C_max itself"
)


def offline_throughput(parameters: Any, points: Sequence[Point], curve: Curve) -> VerdictRow:
    """Judge the output tokens per second of the Offline run by those at C_max.

    Args:
        parameters: `factor` and `severity`, or nothing for 0.98, which fails.
        points: Those that stand.
        curve: Its declared ends.
    """
    c_max = curve.c_max
    factor = float(parameters.get("factor", FACTOR)) if isinstance(parameters, Mapping) else FACTOR
    rule = SweepRule(
        "offline_tps_at_least",
        f"output_tps(Offline) / output_tps(C_max) >= {factor:g}",
        factor,
        _severity(parameters),
        method="output tokens per second over the window",
    )
    offline = [point for point in points if point.offline]
    at_c_max = [point for point in points if not point.offline and point.concurrency == c_max]
    if not offline:
        return rule.skipped(_NO_OFFLINE)
    if c_max is None or not at_c_max:
        return rule.skipped(f"no point lies at C_max ({c_max}), so that nothing is to be compared with")
    best = max((rate for rate in map(_SYSTEM_TPS.figure, at_c_max) if rate), default=None)
    slowest = min((_SYSTEM_TPS.figure(point) or 0.0 for point in offline), default=0.0)
    n = len(offline) + len(at_c_max)
    if best is None:
        return rule.missed(n, f"the point at C_max ({c_max}) has no output tokens per second")
    share = slowest / best
    if share >= factor:
        return rule.met(n, share)
    return rule.missed(
        n,
        f"Offline gave {slowest:,.1f} tok/s, and {best:,.1f} tok/s were given at C_max ({c_max})",
        "a server that is asked everything at once should not be slower: look at its queue and its batches",
        share,
    )


def offline_concurrency(parameters: Any, points: Sequence[Point], curve: Curve) -> VerdictRow:
    """Judge the concurrency of the Offline run: at least C_max; `severity` may make a miss a warning."""
    c_max = curve.c_max
    rule = SweepRule(
        "offline_concurrency_at_least", "concurrency(Offline) >= C_max", c_max, _severity(parameters)
    )
    offline = [point for point in points if point.offline]
    if not offline:
        return rule.skipped(_NO_OFFLINE)
    if c_max is None:
        return rule.skipped("no point has a concurrency, so that there is no C_max")
    concurrencies = [point.concurrency for point in offline if point.concurrency is not None]
    if len(concurrencies) < len(offline):
        return rule.skipped("how many requests the Offline run asked at once is not known")
    least = min(concurrencies)
    if least >= c_max:
        return rule.met(len(offline), least)
    return rule.missed(
        len(offline),
        f"the Offline run asked {least} requests at once, and C_max is {c_max}",
        "ask a whole dataset, or declare a smaller C_max (--c-max)",
        least,
    )


def _severity(parameters: Any) -> Severity:
    return parameters.get("severity", "fail") if isinstance(parameters, Mapping) else "fail"


TOLERANCE: Final = 0.01
SETTINGS: Final = ("model", "dataset")
"""What is the same at every point unless a rule says otherwise."""

_TPS_PER_USER: Final = FigureAxis("tps_per_user", "p90")
_STATED: Final = "tps_per_user:p(90)"


def tps_per_user(parameters: Any, points: Sequence[Point], _curve: Curve) -> VerdictRow:
    """Check that tps_per_user of all points is 1000 / p90 of TPOT in the reports.

    Args:
        parameters: The relative difference that is allowed; nothing for 1 %.
        points: Those that stand.
    """
    tolerance = TOLERANCE if parameters is None else float(parameters)
    rule = SweepRule(
        "tps_per_user_consistency",
        f"|tps_per_user / (1000 / tpot p(90)) - 1| <= {tolerance:g}",
        tolerance,
        method="the figure of each verdict next to its report's TPOT",
    )
    apart = {}
    for point in points:
        stated, computed = _stated(point), _TPS_PER_USER.figure(point)
        if stated is not None and computed is not None:
            apart[str(point)] = abs(stated / computed - 1)
    if not apart:
        return rule.skipped(f"no verdict states {_STATED} next to a report with TPOT")
    name, worst = max(apart.items(), key=lambda entry: entry[1])
    if worst <= tolerance:
        return rule.met(len(apart), worst)
    return rule.missed(
        len(apart),
        f"at {name} the two differ by {100 * worst:.2f} %",
        "have both computed by the same definitions",
        worst,
    )


def _stated(point: Point) -> float | None:
    rows = () if point.verdict is None else point.verdict.rows
    return next((row.observed for row in rows if row.target.startswith(_STATED)), None)


def same_settings(parameters: Any, points: Sequence[Point], _curve: Curve) -> VerdictRow:
    """Judge whether all points asked alike.

    Args:
        parameters: The settings of `run` in their reports that must be equal; nothing for model and dataset.
        points: Those that stand.
    """
    names: tuple[str, ...] = tuple(parameters) if parameters else SETTINGS
    rule = SweepRule("config_identical", f"the same at every point: {', '.join(names)}")
    if not points:
        return rule.skipped("no point stands")
    differ = [name for name in names if len({repr(_setting(point, name)) for point in points}) > 1]
    if not differ:
        return rule.met(len(points))
    seen = "; ".join(
        f"{name} is {' or '.join(sorted({str(_setting(point, name)) for point in points}))}"
        for name in differ
    )
    return rule.missed(len(points), f"points differ: {seen}", "measure the points that differ again")


def _setting(point: Point, name: str) -> Any:
    if name != "dataset":
        return facts.run(point.report).get(name)
    dataset = facts.section(point.report, "run", "dataset")
    return dataset.get("sha256") or dataset.get("name")
