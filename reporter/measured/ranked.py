"""Values in ascending order, in any number: packed, and read without a copy."""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from itertools import chain
from operator import mul, sub
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True, slots=True)
class Ranked:
    """Finite values, followed by infinite ones.

    Attributes:
        values: The finite ones, ascending; where they are weighted, each once.
        upto: Where they are weighted, how many there are up to each of `values`, itself included.
        infinite: How many infinite ones there are.
    """

    values: Sequence[float]
    upto: Sequence[int] | None = None
    infinite: int = 0

    @property
    def finite(self) -> int:
        """How many finite ones there are."""
        return self._up_to_place(len(self.values))

    @property
    def count(self) -> int:
        """How many there are."""
        return self.finite + self.infinite

    def at(self, rank: int) -> float:
        """The value of a rank, from 0.

        Raises:
            IndexError: No value has this rank.
        """
        if not 0 <= rank < self.count:
            raise IndexError(f"there is no rank {rank} among {self.count} values")
        if rank >= self.finite:
            return math.inf
        return self.values[rank if self.upto is None else bisect_right(self.upto, rank)]

    def at_most(self, edge: float) -> int:
        """How many are at most a finite edge."""
        return self._up_to_place(bisect_right(self.values, edge))

    def below(self, edge: float) -> int:
        """How many are below a finite edge."""
        return self._up_to_place(bisect_left(self.values, edge))

    def total(self) -> float:
        """The sum of the finite ones, rounded once."""
        if self.upto is None:
            return math.fsum(self.values)
        return math.fsum(map(mul, self.values, map(sub, self.upto, chain((0,), self.upto))))

    def _up_to_place(self, place: int) -> int:
        return place if self.upto is None else self.upto[place - 1] if place else 0
