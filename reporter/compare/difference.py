"""The difference between two figures: size, certainty, and the smallest detectable size.

Differences are relative, and intervals and tests are those of the logarithms of the figures; of shares they
are in points. `FigureDifference` holds the one and the other as a share: 0.03 is 3 %, or 3 points.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

POWER: Final = 0.8
"""The chance with which a difference is found that is called detectable."""


@dataclass(frozen=True, slots=True)
class FigureDifference:
    """How a figure differs from the reference's.

    Attributes:
        by: The difference.
        low: The lower end of its interval; None where none is known.
        high: The upper end.
        p: The chance of a difference as large between two that do not differ; None where none is known.
        detectable: The difference that would be found in four of five comparisons such as this one, in either
            direction; None where none would, or none is known.
        needed: Where p is None for want of requests, how many each run would need.
        paired: Of a score, how many questions both runs were asked and were compared by.
    """

    by: float
    low: float | None = None
    high: float | None = None
    p: float | None = None
    detectable: float | None = None
    needed: int | None = None
    paired: int | None = None


def to_ratio(by: float, *, in_points: bool) -> float:
    """A difference of logarithms as a share; a difference in points unchanged."""
    return by if in_points else math.expm1(by)
