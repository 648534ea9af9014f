"""The rules over several runs, each with its row."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from rulesets.sweeps import accuracy, agreement, counting, offline, pareto, search
from rulesets.sweeps.point import standing
from rulesets.sweeps.rule import Rule

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from rulesets.demands import Sweep
    from rulesets.judging.row import Row
    from rulesets.sweeps.point import Point

CHECKS: Final[Mapping[str, Callable[[Any, Sequence[Point], int | None], Row]]] = {
    "offline_tps_at_least": offline.throughput,
    "offline_concurrency_at_least": offline.concurrency,
    "tps_per_user_consistency": agreement.tps_per_user,
    "config_identical": agreement.same_settings,
    "accuracy_per_region": accuracy.per_region,
    "accuracy_runs": accuracy.in_runs,
}
"""The checks of a sweep, by the names that files know them by; `accuracy_runs` is the `runs` of a gate."""


def judge(
    sweep: Sweep,
    points: Sequence[Point],
    *,
    c_max: int | None = None,
    baseline: Sequence[Point] = (),
) -> tuple[Row, ...]:
    """Judge several runs together: one row a rule, always.

    Args:
        sweep: The rules.
        points: The runs, in any order.
        c_max: The greatest concurrency of the curve, as declared; None for that of its greatest point.
        baseline: The runs of the sweep that ours must dominate, where the rules ask for that.
    """
    declared = c_max or counting.c_max_of(standing(points))
    return tuple(_rows(sweep, points, declared, baseline))


def names(sweep: Sweep) -> tuple[str, ...]:
    """The ids of all rows that `judge` gives, whatever the points."""
    return tuple(row.id for row in judge(sweep, ()))


def _rows(
    sweep: Sweep, points: Sequence[Point], c_max: int | None, baseline: Sequence[Point]
) -> Iterator[Row]:
    yield from counting.rows(sweep.points, points, c_max)
    stand = standing(points)
    for name, told in sweep.checks:
        yield CHECKS[name](told, stand, c_max) if name in CHECKS else _unknown(name)
    if sweep.pareto:
        yield from pareto.rows(sweep.pareto, points, baseline)
    if sweep.search:
        yield search.row(sweep.search, points)


def _unknown(name: str) -> Row:
    """A check of rules that another version kept in a log."""
    return Rule(name, name).open(0, "this version knows no such check", "judge by rules of this version")
