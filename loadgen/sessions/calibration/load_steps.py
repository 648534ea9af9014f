"""The next load to try: doubling first, then bisection."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection


@dataclass(frozen=True, slots=True)
class Ladder:
    """The loads that may be tried.

    Attributes:
        first: Where to start.
        greatest: Where it ends, at least 1.
        precision: The search ends when the least load that did not hold is this much above the greatest that
            held, as a share of that: after a doubling it takes two steps to reach 0.25, and none to reach 1.
    """

    first: int
    greatest: int
    precision: float

    def next_load(self, held: Collection[int], failed: Collection[int]) -> int | None:
        """The load to try next, None when the search is over.

        Args:
            held: The loads that held.
            failed: The loads that did not. A load that held above one that did not is ignored.
        """
        high = min(failed, default=None)
        low = max((load for load in held if high is None or load < high), default=None)
        if low is None and high is None:
            return min(self.first, self.greatest)
        if high is None:
            return None if low == self.greatest else min(2 * (low or 1), self.greatest)
        if low is None:
            return high // 2 or None
        near = high - low <= max(1, self.precision * low)
        return None if near else (low + high) // 2
