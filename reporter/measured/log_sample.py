"""The values of one metric over the requests that a rule is about; see `rulesets.evidence.MetricValues`."""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from itertools import chain
from operator import mul, sub
from typing import TYPE_CHECKING

from lazy_dataclasses import dataclass
from reporter.percentiles import position

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from fractions import Fraction

    from rulesets.definitions import PercentileMethod
    from rulesets.target import Op


@dataclass(frozen=True, slots=True)
class LogSample:
    """A `rulesets.evidence.MetricValues`.

    Attributes:
        ranked: The values; infinite ones are requests that failed, where these count as violations.
        means: Gives, for each of the finest equal spans of time, how many finite values there are of requests
            that were issued in it, and their sum.
        order: Gives, request by request in the order of issue or in short spans of time, the number of
            values, and how many are at most an edge; without an edge, the sum of the finite ones.
    """

    ranked: Ranked
    method: PercentileMethod
    means: Callable[[], Sequence[tuple[int, float]]]
    order: Callable[[float | None], Sequence[tuple[int, float]]]

    @property
    def count(self) -> int:
        """How many values there are."""
        return self.ranked.count

    def mean(self) -> float | None:
        """The mean of those that are finite; None without any."""
        return self.ranked.total() / self.ranked.finite if self.ranked.finite else None

    def percentile(self, p: Fraction) -> float | None:
        """The percentile p by the method of the definitions; None without values."""
        if not self.count:
            return None
        place = position(self.method, self.count, p)
        return place.between(self.at(place.below), self.at(place.above))

    def at(self, rank: int) -> float:
        """The value of a rank in ascending order, from 0.

        Raises:
            IndexError: No value has this rank.
        """
        return self.ranked.at(rank)

    def unmet(self, op: Op, bound: float) -> int:
        """How many do not meet a bound."""
        below, upto = self.ranked.below(bound), self.ranked.at_most(bound)
        met = {
            "<": below,
            "<=": upto,
            ">": self.count - upto,
            ">=": self.count - below,
            "==": upto - below,
            "!=": self.count - upto + below,
        }
        return self.count - met[op]

    def block_means(self) -> tuple[float, ...]:
        """The means of equal spans of time, by when requests were issued; empty where too few for two."""
        from reporter.measured.timeline import group_size, grouped

        spans = self.means()
        size = group_size([count for count, _ in spans]) if self.count else None
        if size is None:
            return ()
        sums = (tuple(map(sum, zip(*block, strict=True))) for block in grouped(spans, size))
        return tuple(total / count for count, total in sums)

    def in_order(self, edge: float | None = None) -> Sequence[tuple[int, float]]:
        """The count of values, and the sum of the finite ones or the count up to an edge, over time."""
        return self.order(edge)


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
        if rank < (finite := self.finite) and rank >= 0:
            return self.values[rank if self.upto is None else bisect_right(self.upto, rank)]
        if finite <= rank < finite + self.infinite:
            return math.inf
        raise IndexError(f"rank {rank} is outside the {self.count} values")

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
