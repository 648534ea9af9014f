"""The regions of an MLPerf Endpoints curve: bands of concurrency from the lowest point to the greatest.

mlcommons/endpoints_policies, endpoints_rules.md §5 and Appendix B. With I = log2(C_max - C_min) / 3:

    ultra low   1 … C_min                        C_min is at most 32
    low         … round(C_min + 2^I)             round to even, as Python does
    medium      … round(C_min + 2^(2I))
    high        … C_max
    margin      … ⌈1.10 C_max⌉                   valid, and none of the regions

The product is a binary floating-point number, as in the pseudocode of the rules: 1.10 * 50 is a little more
than 55, and the margin of 50 ends at 56.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final, Literal, get_args

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
