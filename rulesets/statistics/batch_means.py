"""The interval of a mean over time, from the means of equal spans: batch means.

Single requests of a run resemble their neighbours; the means of long enough spans are nearly independent, and
the mean of b blocks with standard deviation s is known to ± t s / √b, t being Student's quantile with b - 1
degrees of freedom: A. M. Law, Simulation Modeling and Analysis (5th ed., 2015), 9.5.3. While neighbouring
blocks still resemble each other, two of them become one: G. S. Fishman, "Grouping observations in digital
simulation", Management Science 24, 1978.
"""

from __future__ import annotations

import math
from itertools import pairwise
from statistics import fmean, stdev
from typing import TYPE_CHECKING, Final

from lazy_dataclasses import dataclass
from rulesets.statistics.probability import proper
from rulesets.statistics.student import bound

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rulesets.statistics.probability import Probability

RESEMBLANCE: Final = 0.2
"""From this lag-1 autocorrelation on, blocks are too short to be taken for independent."""

FEWEST: Final = 5
"""How many blocks are left at least when two become one."""


@dataclass(frozen=True, slots=True)
class MeanInterval:
    """A mean, give or take.

    Attributes:
        mean: In the blocks' unit.
        autocorrelation: Of neighbouring blocks; from 0.2 on the half width is too small.
    """

    mean: float
    half_width: float
    autocorrelation: float

    @property
    def low(self) -> float:
        """The lower end."""
        return self.mean - self.half_width

    @property
    def high(self) -> float:
        """The upper end."""
        return self.mean + self.half_width


def interval(blocks: Sequence[float], level: Probability) -> MeanInterval | None:
    """The two-sided interval; each end is a one-sided limit of the level (1 + level) / 2.

    Args:
        blocks: The means, or the rates, of equal spans of time, in order.
        level: The coverage.

    Returns:
        None with fewer than two blocks.
    """
    sure = float(proper(level))
    if len(blocks) <= 1:
        return None
    half = bound(sure, len(blocks) - 1) * stdev(blocks) / math.sqrt(len(blocks))
    return MeanInterval(fmean(blocks), half, autocorrelation(blocks))


def grouped(blocks: Sequence[float]) -> tuple[float, ...]:
    """The blocks, merged in pairs until neighbours are uncorrelated.

    Never fewer than `FEWEST` are left of more; a last one without a neighbour is left out.
    """
    means = tuple(blocks)
    while len(means) >= 2 * FEWEST and autocorrelation(means) > RESEMBLANCE:
        means = tuple((first + other) / 2 for first, other in zip(means[::2], means[1::2], strict=False))
    return means


def autocorrelation(blocks: Sequence[float]) -> float:
    """Of lag 1: Σ (y_i - m)(y_{i+1} - m) / Σ (y_i - m)²; 0 where all are alike.

    G. E. P. Box and G. M. Jenkins, Time Series Analysis (1970), 2.1.5.
    """
    mean = fmean(blocks)
    apart = [block - mean for block in blocks]
    squares = math.fsum(deviation * deviation for deviation in apart)
    return math.fsum(deviation * other for deviation, other in pairwise(apart)) / squares if squares else 0.0
