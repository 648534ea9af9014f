"""The required number of points in a sweep, and the required places."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final, Literal, get_args

from lazy_dataclasses import dataclass
from rulesets.sweeps.point import listed, standing
from rulesets.sweeps.sweep_row import SweepRule

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from rulesets.evaluators.rule_row import VerdictRow
    from rulesets.sweeps.point import Point
    from rulesets.sweeps.sweep_row import Curve


Region = Literal["ultra_low", "low", "medium", "high"]
Place = Literal["ultra_low", "low", "medium", "high", "margin"]

REGIONS: Final[tuple[Region, ...]] = get_args(Region)
"""Those that must be covered, in ascending order."""

ULTRA_LOW_MOST: Final = 32
"""The lowest point is at most there, and C_max beyond."""


@dataclass(frozen=True, slots=True)
class Regions:
    """The last concurrency of each region.

    Attributes:
        ultra_low: C_min.
        low: Of the next.
        medium: Of the next.
        high: C_max.
        margin: The greatest that is valid.
        covered: The greatest that covers Ultra Low: 32, or C_min where it is declared.
    """

    ultra_low: int
    low: int
    medium: int
    high: int
    margin: int
    covered: int = ULTRA_LOW_MOST

    def place(self, concurrency: int) -> Place | None:
        """Tell where a point lies; None for beyond the margin."""
        return next((name for name in get_args(Place) if concurrency <= getattr(self, name)), None)

    def span(self, region: Region) -> tuple[int, int]:
        """The first and the last concurrency of a region."""
        before = REGIONS.index(region) - 1
        return 1 if before < 0 else getattr(self, REGIONS[before]) + 1, getattr(self, region)


def regions(c_max: int, c_min: int, *, declared: bool = False) -> Regions:
    """Cut the concurrencies of a curve.

    Args:
        c_max: The greatest, as declared.
        c_min: The lowest of its points, or what is declared in its place.
        declared: Whether it is declared, and so ends Ultra Low.

    Raises:
        ValueError: They leave no room for regions.
    """
    if declared and not 1 <= c_min <= ULTRA_LOW_MOST:
        raise ValueError(f"the declared C_min is {c_min}, and must be from 1 to {ULTRA_LOW_MOST}")
    if not 1 <= c_min < c_max:
        raise ValueError(f"C_max is {c_max}, and the lowest point is at {c_min}: nothing lies between")
    if c_max <= ULTRA_LOW_MOST:
        raise ValueError(f"C_max is {c_max}, and must be above {ULTRA_LOW_MOST}")
    third = math.log2(c_max - c_min) / 3
    return Regions(
        ultra_low=c_min,
        low=round(c_min + 2**third),
        medium=round(c_min + 2 ** (2 * third)),
        high=c_max,
        margin=math.ceil(1.10 * c_max),
        covered=c_min if declared else ULTRA_LOW_MOST,
    )


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
