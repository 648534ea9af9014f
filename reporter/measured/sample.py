"""The values of one metric over the requests that a rule is about; see `rulesets.evidence.MetricValues`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from reporter.measured.blocks import group_size, grouped
from reporter.quantile import position

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from fractions import Fraction

    from reporter.measured.ranked import Ranked
    from rulesets.definitions import PercentileMethod
    from rulesets.target import Op


@dataclass(frozen=True, slots=True)
class LogSample:
    """A `rulesets.evidence.MetricValues`.

    Attributes:
        ranked: The values; infinite ones are requests that failed, where these count as violations.
        method: How percentiles are taken.
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
        spans = self.means()
        size = group_size([count for count, _ in spans]) if self.count else None
        if size is None:
            return ()
        sums = (tuple(map(sum, zip(*block, strict=True))) for block in grouped(spans, size))
        return tuple(total / count for count, total in sums)

    def in_order(self, edge: float | None = None) -> Sequence[tuple[int, float]]:
        """The count of values, and the sum of the finite ones or the count up to an edge, over time."""
        return self.order(edge)
