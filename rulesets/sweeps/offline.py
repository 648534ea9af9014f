"""The demands on an Offline run beyond the curve: at least the throughput of the greatest point.

mlcommons/endpoints_policies, endpoints_rules.md §5: system_tps(Offline) >= 0.98 x system_tps(C_max), at a
concurrency of at least C_max. The checker of the round says nothing where no point lies at C_max; here that
is a row too.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from rulesets.sweeps.point import FigureAxis
from rulesets.sweeps.sweep_row import SweepRule

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rulesets.evaluators.rule_row import VerdictRow
    from rulesets.sweeps.declarations import Curve
    from rulesets.sweeps.point import Point
    from rulesets.target import Severity

FACTOR: Final = 0.98
_SYSTEM_TPS: Final = FigureAxis("output_tps")
_NO_OFFLINE: Final = (
    "no point is a dedicated Offline run: Offline is elected, and is the point at C_max itself"
)


def throughput(parameters: Any, points: Sequence[Point], curve: Curve) -> VerdictRow:
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


def concurrency(parameters: Any, points: Sequence[Point], curve: Curve) -> VerdictRow:
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
