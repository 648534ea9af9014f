"""Which points of a curve carry an accuracy result: exactly one for each region, and one for Offline.

mlcommons/endpoints_policies, endpoints_rules.md §4.3 and §5.3; mlcommons/endpoints-submission-cli 1.5.3.0
(submission_checker/models/aggregate/context.py). Without a declared C_min a point up to a concurrency of 32
that lies in Low or Medium may stand for Ultra Low instead. Points are assigned so that most regions have a
result (a maximum bipartite matching), and a result that no region needs is one too many. An Offline result
is that of the dedicated run, else that of the point at C_max, which then counts for its region too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from rulesets.sweeps.counting import in_region, regions_of
from rulesets.sweeps.point import listed
from rulesets.sweeps.regions import REGIONS
from rulesets.sweeps.sweep_row import SweepRule

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rulesets.evaluators.rule_row import VerdictRow
    from rulesets.sweeps.declarations import Curve
    from rulesets.sweeps.point import Point
    from rulesets.sweeps.regions import Region

_WITH_OFFLINE: Final = 5
"""The results of a benchmark that has an Offline run: one more than there are regions."""


def exactly_one(
    scores: Sequence[str], results: int | None, points: Sequence[Point], curve: Curve
) -> VerdictRow:
    """Judge whether each region, and Offline, has exactly one accuracy result.

    Args:
        scores: The metrics that an accuracy result consists of; none for every accuracy that a verdict has.
        results: How many results the benchmark asks for: five with Offline, four without; None for five where
            there is an Offline run.
        points: The points that count.
        curve: Its declared ends.
    """
    dedicated = [point for point in points if point.offline]
    with_offline = bool(dedicated) if results is None else results >= _WITH_OFFLINE
    where = "each region and Offline" if with_offline else "each region"
    wanted = len(REGIONS) + with_offline
    rule = SweepRule("accuracy_per_region", f"exactly one accuracy result in {where}", wanted)
    wrong = [point for point in points if any(_is_missed(row) for row in _accuracy_rows(point))]
    if wrong:
        return rule.missed(len(points), f"the accuracy of {listed(wrong)} is not met", "see their verdicts")
    partial = [point for point in points if _has_result(point, scores) and _lacks(point, scores)]
    if partial:
        lacking = ", ".join(dict.fromkeys(name for point in partial for name in _lacks(point, scores)))
        return rule.missed(len(points), f"the accuracy result of {listed(partial)} lacks {lacking}")
    carrying = [point for point in points if _has_result(point, scores)]
    if unclear := [point for point in carrying if any(map(_is_unclear, _rows_of(point, scores)))]:
        reason = f"the accuracy of {listed(unclear)} is not certain"
        return rule.open(len(points), reason, "see their verdicts")
    try:
        return _counted(rule, carrying, points, curve, with_offline=with_offline)
    except ValueError as error:
        return rule.missed(len(points), f"there are no regions: {error}")


def _counted(
    rule: SweepRule, carrying: Sequence[Point], points: Sequence[Point], curve: Curve, *, with_offline: bool
) -> VerdictRow:
    dedicated = any(point.offline for point in points)
    elected = None if dedicated or not with_offline else curve.c_max
    owners = _assigned(carrying, points, curve, elected)
    at_offline = [point for point in carrying if point.offline or point.concurrency == elected]
    missing = [region.replace("_", " ") for region in REGIONS if region not in owners]
    missing += ["Offline"] if with_offline and not at_offline else []
    extra = [
        point
        for point in carrying
        if not point.offline and point not in owners.values() and point not in at_offline
    ]
    count = len(owners) + (with_offline and bool(at_offline))
    if missing:
        return rule.missed(
            len(points),
            f"no accuracy result in {', '.join(missing)}",
            "measure the accuracy at one point of each: loadgen gate --accuracy",
            count,
        )
    if extra:
        return rule.missed(
            len(points),
            f"one accuracy result too many: {listed(extra)}",
            "leave out all but one for each region",
            count + len(extra),
        )
    return rule.met(len(points), count)


def _assigned(
    carrying: Sequence[Point], points: Sequence[Point], curve: Curve, elected: int | None
) -> Mapping[Region, Point]:
    """The accuracy result for each region: as many regions as possible.

    Points that were assigned stay assigned, so that the elected one, which comes last, takes a region only
    where no other point can.
    """
    cut = regions_of(points, curve)
    online = [point for point in carrying if not point.offline]
    online.sort(key=lambda point: (point.concurrency == elected, point.concurrency or 0))
    owners: dict[Region, Point] = {}

    def assign(point: Point, tried: set[Region]) -> bool:
        for region in REGIONS:
            if region in tried or not in_region(point, region, cut):
                continue
            tried.add(region)
            if region not in owners or assign(owners[region], tried):
                owners[region] = point
                return True
        return False

    for point in online:
        assign(point, set())
    return owners


def _accuracy_rows(point: Point) -> Sequence[VerdictRow]:
    rows = () if point.verdict is None else point.verdict.rows
    return [row for row in rows if row.group == "accuracy"]


def _is_missed(row: VerdictRow) -> bool:
    return row.severity == "fail" and row.status == "FAIL"


def _is_unclear(row: VerdictRow) -> bool:
    return row.severity == "fail" and row.status == "INCONCLUSIVE"


def _rows_of(point: Point, scores: Sequence[str]) -> Sequence[VerdictRow]:
    """The rows of an accuracy result: a score may have two, a minimum and a maximum."""
    rows = _accuracy_rows(point)
    names = {name for score in scores for name in (score, f"{score}.max")}
    return [row for row in rows if row.id in names] if names else rows


def _has_result(point: Point, scores: Sequence[str]) -> bool:
    return any(row.observed is not None for row in _rows_of(point, scores))


def _lacks(point: Point, scores: Sequence[str]) -> Sequence[str]:
    """The scores of a result that were not measured."""
    if not scores:
        return ()
    rows: dict[str, Any] = {row.id: row for row in _rows_of(point, scores)}
    return [
        score
        for score in scores
        if score in rows
        and (
            rows[score].observed is None
            or (rows[score].severity == "fail" and rows[score].status not in {"PASS", "FAIL", "INCONCLUSIVE"})
        )
    ]
