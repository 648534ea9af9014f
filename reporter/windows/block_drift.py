"""Drifts, swings and means of the figures of blocks of a run.

Leading blocks that a warm-up or a ramp has colored are left out by the marginal standard error rule (MSER:
K. P. White, "An effective truncation heuristic for bias reduction in simulation output", Simulation 69,
1997): what is left out is what makes the standard error of the mean of the rest smallest, and never more than
half, so that five blocks are left at least. Each figure is tested for a drift, by the slope of a regression
over time (Student's t). A test of block means takes them for independent: while the residuals of the
regression resemble their neighbours (J. Durbin and G. S. Watson, "Testing for serial correlation in least
squares regression II", Biometrika 38, 1951), two neighbours become one block (G. S. Fishman, "Grouping
observations in digital simulation", Management Science 24, 1978). What still does so when there are too few
to group, or did so very much before, has swings as long as the run, and no steady state has been seen.

The confidence intervals are those of batch means: of the blocks' values, grouped in the same way.
"""

from __future__ import annotations

import math
from itertools import pairwise
from statistics import fmean, stdev
from typing import TYPE_CHECKING, Final

from lazy_dataclasses import dataclass
from reporter.report import Estimate

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from reporter.report import Moment

KEPT_BLOCKS: Final = 5
"""The fewest blocks that are tested."""

DRIFTS: Final = ((0.05, 0.01), (0.2, 0.03))
"""A figure drifts when the change from start to end exceeds a share of the mean, unless chance may do that
with this probability; a large change needs less proof, and a small one does not count, however certain."""

RESEMBLING: Final = 1.35
"""Durbin and Watson's statistic below which neighbouring residuals resemble each other: of independent ones
3 to 6 % have less, for 6 to 20 blocks. Those of five never have, for they are too few to tell."""

SWINGING: Final = 0.75
"""The statistic below which residuals have a step or a swing as long as the run, and no grouping helps."""

LEAST_SWING: Final = 0.05
"""The share of the mean that residuals must deviate by to matter."""

TESTED: Final = {"latency_ms": "latency", "qps": "throughput", "in_flight": "requests in flight"}
"""The figures that must not drift, with names for messages."""


@dataclass(frozen=True, slots=True)
class BlockTrend:
    """How a figure changes from block to block.

    Attributes:
        share: By how much from the first to the last, as a share of the mean.
        chance: The probability that figures without a drift show as much.
        swings: Whether neighbouring blocks resemble each other beyond the drift.
    """

    share: float
    chance: float
    swings: bool


def trend(values: Sequence[float]) -> BlockTrend:
    """Test the values of at least five blocks for a drift, after grouping correlated neighbours."""
    grouped = _grouped(values)
    slope, residuals = _line(grouped)
    mean, count = abs(fmean(grouped)), len(grouped)
    deviation = math.sqrt(sum(residual**2 for residual in residuals) / (count - 2))
    error = deviation / math.sqrt(_spread(count))
    from rulesets.statistics.student import within

    chance = 1 - within(abs(slope) / error, count - 2) if error else float(slope == 0)
    swings = _resemblance(residuals) < RESEMBLING or _resemblance(_line(values)[1]) < SWINGING
    return BlockTrend(
        share=slope * count / mean if mean else 0.0,
        chance=chance,
        swings=swings and deviation > LEAST_SWING * mean,
    )


def unsteady(trends: Mapping[str, BlockTrend]) -> tuple[str | None, dict[str, float]]:
    """The reason for an unsteady state, and the drifting figures with shares."""
    drifting = {
        name: block_trend.share
        for name, block_trend in trends.items()
        if any(block_trend.chance < chance and abs(block_trend.share) > share for share, chance in DRIFTS)
    }
    if drifting:
        changes = ", ".join(f"{TESTED[name]} by {100 * share:+.0f} %" for name, share in drifting.items())
        return f"drift from start to end: {changes}", drifting
    swinging = [TESTED[name] for name, block_trend in trends.items() if block_trend.swings]
    if swinging:
        return f"too short for the swings of the {' and '.join(swinging)}", {}
    return None, {}


def value_of(name: str, block: Sequence[Moment]) -> float | None:
    """A figure of a block: a mean over requests, or over time."""
    if name in {"qps", "output_tps", "in_flight"}:
        return fmean(getattr(moment, name) for moment in block)
    of = [
        (mean, moment.answered)
        for moment in block
        if (mean := getattr(moment, name.replace("_", "_mean_"))) is not None
    ]
    return sum(mean * count for mean, count in of) / sum(count for _, count in of) if of else None


def warmed_up(values: Sequence[float]) -> int:
    """How many leading blocks to leave out, by MSER: no more than half."""

    def squared_error(first: int) -> float:
        rest = values[first:]
        mean = fmean(rest)
        return sum((value - mean) ** 2 for value in rest) / len(rest) ** 2

    return min(range(len(values) // 2 + 1), key=squared_error)


def _grouped(values: Sequence[float]) -> Sequence[float]:
    """Neighbouring values grouped until uncorrelated, or until few groups are left."""
    while len(values) >= 2 * KEPT_BLOCKS and _resemblance(_line(values)[1]) < RESEMBLING:
        values = [fmean(values[start : start + 2]) for start in range(len(values) % 2, len(values), 2)]
    return values


def _resemblance(residuals: Sequence[float]) -> float:
    """Durbin and Watson's statistic: about 2 for independent residuals, 0 for those that hardly change."""
    squares = sum(residual**2 for residual in residuals)
    return (
        sum((after - before) ** 2 for before, after in pairwise(residuals)) / squares if squares else math.inf
    )


def _line(values: Sequence[float]) -> tuple[float, list[float]]:
    """The slope of the least squares line, per block, and the residuals."""
    mean, middle = fmean(values), (len(values) - 1) / 2
    slope = sum((index - middle) * value for index, value in enumerate(values)) / _spread(len(values))
    return slope, [value - mean - slope * (index - middle) for index, value in enumerate(values)]


def _spread(count: int) -> float:
    """The sum of squared distances of 0, 1, … from the mean."""
    return count * (count**2 - 1) / 12


def estimate(values: Sequence[float | None]) -> Estimate | None:
    """The mean of independent blocks with the half width of the 95 % confidence interval."""
    present = [value for value in values if value is not None]
    if len(present) < KEPT_BLOCKS:
        return None
    grouped = _grouped(present)
    from rulesets.statistics.student import bound

    margin = bound(0.95, len(grouped) - 1) * stdev(grouped) / math.sqrt(len(grouped))
    return Estimate(fmean(grouped), margin)
