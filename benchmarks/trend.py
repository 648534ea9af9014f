"""Whether a quantity stays what it is: a slope that single outliers do not move."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from statistics import median
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

SETTLED_PART: Final = 0.2
"""What is sampled in this first part of the time does not count."""


def theil_sen(times: Sequence[float], values: Sequence[float]) -> float:
    """The median of the slopes between all pairs of points (Sen 1968, doi:10.1080/01621459.1968.10480934)."""
    points = list(zip(times, values, strict=True))
    slopes = [(b - a) / (then - now) for (now, a), (then, b) in combinations(points, 2) if then != now]
    return median(slopes) if slopes else 0.0


@dataclass(frozen=True, slots=True)
class Trend:
    """How a quantity has gone.

    Attributes:
        name: Of what.
        unit: Of all its numbers.
        typical: The median, once it had settled.
        most: The most that there ever was.
        growth: By how much it grows over the whole time, along its slope.
        limit: How much it may grow.
    """

    name: str
    unit: str
    typical: float
    greatest: float
    growth: float
    limit: float

    @property
    def flat(self) -> bool:
        """Whether it does not grow by more than it may; shrinking is not a fault."""
        return self.growth <= self.limit


def trend(
    name: str, unit: str, samples: Sequence[tuple[float, float]], *, least: float, share: float = 0.0
) -> Trend:
    """How samples of a quantity go.

    Args:
        name: Of what.
        unit: Of the samples.
        samples: Seconds and values, in order.
        least: It may grow by so much.
        share: Or by this part of its median, whichever is more.
    """
    start_s, end_s = samples[0][0], samples[-1][0]
    settled = [sample for sample in samples if sample[0] >= start_s + SETTLED_PART * (end_s - start_s)]
    times, values = zip(*settled, strict=True)
    typical = median(values)
    return Trend(
        name=name,
        unit=unit,
        typical=typical,
        greatest=max(value for _, value in samples),
        growth=theil_sen(times, values) * (end_s - start_s),
        limit=max(least, share * typical),
    )
