"""Where on a curve answers must be right, and in how many runs: accuracy is not measured at every point.

mlcommons/endpoints_policies, endpoints_rules.md §6: at one point of each region and at the Offline point,
every one of which must pass; for agentic models the mean of several runs.
"""

from __future__ import annotations

from collections.abc import Mapping
from statistics import fmean
from typing import TYPE_CHECKING, Any, Final

from rulesets.quantity import SCORES
from rulesets.sweeps.counting import REGIONS, in_region, regions_of
from rulesets.sweeps.point import listed
from rulesets.sweeps.sweep_row import SweepRule

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rulesets.evaluators.rule_row import VerdictRow
    from rulesets.sweeps.counting import Region
    from rulesets.sweeps.point import Point
    from rulesets.sweeps.sweep_row import Curve


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


_SEE: Final = "see the verdicts of the runs"


def per_region(parameters: Any, points: Sequence[Point], curve: Curve) -> VerdictRow:
    """Judge whether each region, and Offline where there is such a run, has points that are right.

    Args:
        parameters: The minimum for each, one by default; or `exactly`, with the `scores` that a result
            consists of and the number of `results` that the benchmark asks for.
        points: Those that stand.
        curve: Its declared ends.
    """
    if isinstance(parameters, Mapping):
        return exactly_one(parameters.get("scores", ()), parameters.get("results"), points, curve)
    fewest = 1 if parameters is None else int(parameters)
    rule = SweepRule(
        "accuracy_per_region", f"points with their accuracy, in each region and Offline >= {fewest}", fewest
    )
    wrong = [point for point in points if _accuracies(point).get("FAIL")]
    if wrong:
        return rule.missed(len(points), f"the accuracy of {listed(wrong)} is not met", "see their verdicts")
    try:
        counts = _by_region([point for point in points if _is_right(point)], points, curve)
    except ValueError as error:
        return rule.missed(len(points), f"there are no regions: {error}")
    short = [f"{name.replace('_', ' ')} ({n})" for name, n in counts.items() if n < fewest]
    least = min(counts.values())
    if not short:
        return rule.met(len(points), least)
    unclear = [point for point in points if _may_be_right(point) and not _is_right(point)]
    possible = _by_region([point for point in points if _may_be_right(point)], points, curve)
    if min(possible.values()) >= fewest:
        return rule.open(len(points), f"the accuracy of {listed(unclear)} is not certain", _SEE, least)
    return rule.missed(
        len(points),
        f"too few points with an accuracy: {', '.join(short)}",
        "measure the accuracy at one point of each region: loadgen gate --accuracy",
        least,
    )


def _by_region(right: Sequence[Point], points: Sequence[Point], curve: Curve) -> Mapping[str, int]:
    cut = regions_of(points, curve)
    counts: dict[str, int] = {
        region: sum(in_region(point, region, cut) for point in right) for region in REGIONS
    }
    if any(point.offline for point in points):
        return {**counts, "offline": sum(point.offline for point in right)}
    return counts


def _accuracies(point: Point) -> Mapping[str, int]:
    """How many accuracy rows that count a verdict has, by status."""
    counts: dict[str, int] = {}
    for row in () if point.verdict is None else point.verdict.rows:
        if row.group == "accuracy" and row.severity == "fail":
            counts[row.status] = counts.get(row.status, 0) + 1
    return counts


def _is_right(point: Point) -> bool:
    return set(_accuracies(point)) == {"PASS"}


def _may_be_right(point: Point) -> bool:
    accuracies = set(_accuracies(point))
    return bool(accuracies) and accuracies <= {"PASS", "INCONCLUSIVE"}


def in_runs(parameters: Mapping[str, Any], points: Sequence[Point], curve: Curve) -> VerdictRow:
    """Judge a score in several runs.

    Args:
        parameters: `metric`; how many `runs` must have it; `combine`: whether `each` is bounded, or their
            `mean`; `elected`: whether the point at C_max counts as the Offline run where there is none.
        points: Those that stand.
        curve: Its declared ends.
    """
    metric, runs, mean = parameters["metric"], int(parameters["runs"]), parameters.get("combine") == "mean"
    name = str(metric).removeprefix(SCORES)
    text = f"{'the mean' if mean else 'each'} of {name} in at least {runs} runs meets its bounds"
    rule = SweepRule(
        f"accuracy_runs.{name}", text, method="mean of the runs" if mean else "each run by itself"
    )
    with_score = [(point, rows) for point in points if (rows := _rows_on(point, metric))]
    having = [rows for _, rows in with_score]
    elected = bool(parameters.get("elected")) and not any(point.offline for point in points)
    twice = elected and any(point.concurrency == curve.c_max for point, _ in with_score)
    if len(having) + twice < runs:
        reason = f"{len(having)} runs have a {name}, and {runs - twice} are asked for"
        return rule.missed(len(having), reason, "measure the accuracy of more runs")
    observed = [rows[0].observed for rows in having if rows[0].observed is not None]
    shown = fmean(observed) if mean else _worst(having)
    unclear = [row for rows in having for row in rows if row.status == "INCONCLUSIVE"]
    missed = (
        _missed(having, fmean(observed))
        if mean
        else [row for rows in having for row in rows if row.status not in {"PASS", "INCONCLUSIVE"}]
    )
    # The mean of scores that are not certain is not certain either.
    if missed and not (mean and unclear):
        reason = f"{'their mean' if mean else f'{len(missed)} of them'} does not meet {missed[0].target}"
        return rule.missed(len(having), reason, _SEE, shown)
    if unclear:
        reason = f"whether {len(unclear)} of them meet {unclear[0].target} is not certain"
        return rule.open(len(having), reason, _SEE, shown)
    return rule.met(len(having), shown)


def _rows_on(point: Point, metric: str) -> list[VerdictRow]:
    """The rows of a run on one score: the minimum, the maximum, or both."""
    rows = () if point.verdict is None else point.verdict.rows
    return [row for row in rows if row.id in {metric, f"{metric}.max"} and row.observed is not None]


def _worst(having: Sequence[Sequence[VerdictRow]]) -> float | None:
    """The score nearest to a bound, or farthest beyond."""
    rows = [row for rows_of_point in having for row in rows_of_point]
    return min(rows, key=lambda row: 0.0 if row.margin is None else row.margin).observed


def _missed(having: Sequence[Sequence[VerdictRow]], mean: float) -> list[VerdictRow]:
    """The bounds of the first run that the mean of all runs misses; all runs have equal bounds."""
    return [
        row
        for row in having[0]
        if row.bound is not None and (mean > row.bound if row.id.endswith(".max") else mean < row.bound)
    ]
