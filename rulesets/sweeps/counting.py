"""The required number of points in a sweep, and the required places."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from rulesets.sweeps.point import listed, standing
from rulesets.sweeps.regions import REGIONS, ULTRA_LOW_MOST, regions
from rulesets.sweeps.sweep_row import SweepRule

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from rulesets.evaluators.rule_row import VerdictRow
    from rulesets.sweeps.declarations import Curve
    from rulesets.sweeps.point import Point
    from rulesets.sweeps.regions import Regions

MLPERF: Final = "mlperf_endpoints"
"""The regions that there are."""
_NO_REGIONS: Final = "there are no regions: see sweep.regions.basis"


def c_max_of(points: Sequence[Point]) -> int | None:
    """The greatest concurrency of a curve that declares none."""
    return max(_online(points), default=None)


def regions_of(points: Sequence[Point], curve: Curve) -> Regions:
    """The regions of a curve: C_min is the lowest point, unless another is declared.

    Raises:
        ValueError: It has none, or no point lies at the declared C_min.
    """
    online = _online(points)
    if curve.c_max is None or not online:
        raise ValueError("no valid point has a concurrency")
    if curve.c_min is None:
        return regions(curve.c_max, min(online))
    if curve.c_min not in online:
        raise ValueError(f"no valid point lies at the declared C_min, {curve.c_min}")
    return regions(curve.c_max, curve.c_min, declared=True)


def rows(parameters: Mapping[str, Any], points: Sequence[Point], curve: Curve) -> Iterator[VerdictRow]:
    """Judge the number and the places of the points.

    Args:
        parameters: `min`, `max`, `regions` and `require`.
        points: All of them; those that do not stand are counted nowhere.
        curve: Its declared ends.
    """
    stand = standing(points)
    fallen = [point for point in points if not point.stands]
    without = f"; invalid, and not counted: {listed(fallen)}" if fallen else ""
    if "min" in parameters:
        yield _fewest(parameters, stand, without)
    if "max" in parameters:
        yield _points_at_most(parameters["max"], points)
    if parameters.get("regions") == MLPERF or "require" in parameters:
        yield from _places(parameters, stand, curve, without)


def _fewest(parameters: Mapping[str, Any], stand: Sequence[Point], without: str) -> VerdictRow:
    dedicated = any(point.offline for point in stand)
    elected = parameters.get("regions") == MLPERF and not dedicated
    fewest = parameters["min"] - elected
    text = f"points >= {fewest}"
    rule = SweepRule("points.min", f"{text}, none Offline" if elected else text, fewest)
    if len(stand) >= fewest:
        return rule.met(len(stand), len(stand))
    return rule.missed(
        len(stand),
        f"{len(stand)} points stand, and {fewest} are asked for{without}",
        f"measure {fewest - len(stand)} more",
        len(stand),
    )


def _points_at_most(limit: int, points: Sequence[Point]) -> VerdictRow:
    rule, n = SweepRule("points.max", f"points <= {limit}", limit), len(points)
    if n <= limit:
        return rule.met(n, n)
    return rule.missed(
        n, f"there are {n} points, and at most {limit} are allowed", f"leave out {n - limit}", n
    )


def _places(
    parameters: Mapping[str, Any], stand: Sequence[Point], curve: Curve, without: str
) -> Iterator[VerdictRow]:
    basis = SweepRule("regions.basis", f"{ULTRA_LOW_MOST} < C_max, and above the lowest point")
    cut: Regions | None = None
    try:
        cut = regions_of(stand, curve)
    except ValueError as error:
        yield basis.missed(len(stand), str(error), "measure a curve from a few requests in flight to many")
    else:
        yield basis.met(len(stand))
    yield _in_range(stand, cut)
    for required in parameters.get("require", ()):
        yield _covered(required["region"], required["min"], stand, cut, without)


def _in_range(stand: Sequence[Point], cut: Regions | None) -> VerdictRow:
    if cut is None:
        return SweepRule("regions.in_range", "concurrency <= 1.1 C_max", severity="warn").skipped(_NO_REGIONS)
    rule = SweepRule("regions.in_range", f"concurrency <= {cut.margin}", cut.margin, severity="warn")
    online = [point for point in stand if not point.offline and point.concurrency is not None]
    beyond = [point for point in online if cut.place(point.concurrency or 0) is None]
    highest = max(_online(online), default=None)
    if not beyond:
        return rule.met(len(online), highest)
    return rule.missed(
        len(online),
        f"beyond the margin of 10 % above C_max: {listed(beyond)}",
        "declare a greater C_max (--c-max), or leave them out",
        highest,
    )


def _covered(
    region: str, fewest: int, stand: Sequence[Point], cut: Regions | None, without: str
) -> VerdictRow:
    rule = SweepRule(f"regions.{region}", f"points in {_spaced(region)} >= {fewest}", fewest)
    if region == "offline":
        inside = [point for point in stand if point.offline]
        where = "Offline"
    elif cut is None:
        return rule.missed(len(stand), _NO_REGIONS)
    else:
        inside = [point for point in stand if in_region(point, region, cut)]
        first, last = cut.span(REGIONS[REGIONS.index(region)])
        where = f"at a concurrency from {first} to {cut.covered if region == REGIONS[0] else last}"
    if len(inside) >= fewest:
        return rule.met(len(inside), len(inside))
    return rule.missed(
        len(inside),
        f"{len(inside)} points lie in {_spaced(region)}, and {fewest} are asked for{without}",
        f"measure one {where}",
        len(inside),
    )


def in_region(point: Point, region: str, cut: Regions) -> bool:
    """Whether a point can count for a region: a dedicated Offline run does for none, nor does the margin.

    One of Ultra Low may count for Low or Medium as well, where C_min is not declared.
    """
    if point.offline or point.concurrency is None:
        return False
    if region == REGIONS[0]:
        return point.concurrency <= cut.covered
    return cut.place(point.concurrency) == region


def _online(points: Sequence[Point]) -> list[int]:
    return [point.concurrency for point in points if not point.offline and point.concurrency is not None]


def _spaced(region: str) -> str:
    return region.replace("_", " ")
