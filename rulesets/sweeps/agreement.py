"""The properties that all points of a sweep must share, and the agreement of figures."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from rulesets.evaluators import facts
from rulesets.sweeps.point import FigureAxis
from rulesets.sweeps.sweep_row import SweepRule

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rulesets.evaluators.rule_row import VerdictRow
    from rulesets.sweeps.declarations import Curve
    from rulesets.sweeps.point import Point

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
        f"at {name} the two differ by {worst:.2%}",
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
