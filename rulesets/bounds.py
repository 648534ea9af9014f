"""Where a figure may lie for a target to be met, as a set of numbers that can be compared with another's."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from lazy_dataclasses import dataclass

if TYPE_CHECKING:
    from rulesets.target import Target

_Edge = tuple[float, int]
"""A number, and 0 where it belongs to the set, else the direction in which the set begins: 1 or -1."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """The figures that meet a target.

    Attributes:
        without: A number in between that does not belong to it; None for none.
    """

    low: _Edge
    high: _Edge
    without: float | None = None

    def holds(self, figure: float) -> bool:
        """Whether a figure lies within these bounds."""
        return self.low <= (figure, 0) <= self.high and figure != self.without

    def inside(self, other: Bounds) -> bool:
        """Whether these bounds lie within the other bounds."""
        within = self.low >= other.low and self.high <= other.high
        return within and (other.without is None or not self.holds(other.without))

    def meets(self, other: Bounds) -> bool:
        """Tell whether any figure is in both."""
        low, high = max(self.low, other.low), min(self.high, other.high)
        point = low[0] if low == high else None
        return low <= high and (point is None or point not in {self.without, other.without})


def of(target: Target) -> Bounds:
    """The figures that meet a target, in the unit of figures. Counts are whole, so below 6 is at most 5."""
    bound, everything = target.bound, (-math.inf, math.inf)
    whole = target.quantity.kind == "count"
    match target.op:
        case "==":
            return Bounds((bound, 0), (bound, 0))
        case "!=":
            return Bounds((everything[0], 0), (everything[1], 0), bound)
        case "<":
            high = (math.ceil(bound) - 1.0, 0) if whole else (bound, -1)
            return Bounds((everything[0], 0), high)
        case "<=":
            return Bounds((everything[0], 0), (math.floor(bound) if whole else bound, 0))
        case ">":
            low = (math.floor(bound) + 1.0, 0) if whole else (bound, 1)
            return Bounds(low, (everything[1], 0))
        case ">=":
            return Bounds((math.ceil(bound) if whole else bound, 0), (everything[1], 0))


def subject(target: Target) -> tuple[object, ...]:
    """The figure that a target bounds, as a key, regardless of the bound."""
    return (target.metric, target.stat, target.where, target.conditions, target.delta)
