"""Intervals by resampling, for a statistic of unknown distribution: the percentile bootstrap.

B. Efron and R. J. Tibshirani, An Introduction to the Bootstrap (1993), 13.3. What is drawn again is whole
spans of time where the values of a run resemble their neighbours: the moving parts are the blocks, not the
requests (H. R. Künsch, "The jackknife and the bootstrap for general stationary observations", Annals of
Statistics 17, 1989, here with blocks that do not overlap, as E. Carlstein, Annals of Statistics 14, 1986).
The same seed draws the same, so that a verdict can be computed again.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections import Counter
from random import Random
from typing import TYPE_CHECKING, Final

from rulesets.statistics.probability import Probability, exactly, proper

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

RESAMPLES: Final = 2000


def interval(
    values: Sequence[float],
    statistic: Callable[[Sequence[float]], float],
    level: Probability,
    seed: int,
    resamples: int = RESAMPLES,
) -> tuple[float, float] | None:
    """The two-sided interval of a statistic; each end is a one-sided limit of the level (1 + level) / 2.

    Args:
        values: Independent ones: the means of blocks, or one figure a run.
        statistic: Of as many values, in any order.
        level: The coverage.
        seed: Of what is drawn.
        resamples: How often it is.

    Returns:
        None with fewer than two values.
    """
    sure = exactly(proper(level))
    if len(values) <= 1:
        return None
    statistics = [
        statistic([values[index] for index in drawn]) for drawn in _drawn(len(values), seed, resamples)
    ]
    return _middle(statistics, sure)


def two_sample_interval(
    first: Sequence[float],
    second: Sequence[float],
    statistic: Callable[[Sequence[float], Sequence[float]], float],
    level: Probability,
    seed: int,
    resamples: int = RESAMPLES,
) -> tuple[float, float]:
    """The two-sided interval of a statistic of two groups, each resampled separately: ibid., 8.3.

    Args:
        first: Independent values, one at least.
        second: Likewise.
        statistic: Of as many values of each, in any order.
        level: The coverage.
        seed: Of what is drawn.
        resamples: How often it is.
    """
    random = Random(seed)  # noqa: S311 (a simulation, not a secret)
    differences = [
        statistic(random.choices(first, k=len(first)), random.choices(second, k=len(second)))
        for _ in range(resamples)
    ]
    return _middle(differences, proper(level))


def percentile_interval(
    counts: Sequence[Sequence[int]],
    edges: Sequence[float],
    p: Probability,
    level: Probability,
    seed: int,
    resamples: int = RESAMPLES,
) -> tuple[float, float] | None:
    """The interval of a percentile over blocks of time, as precise as the edges are close.

    The percentile of a draw is the lowest edge that at least the share p of its values does not exceed, and
    infinity where not even the last edge is. So the upper end is at most an edge exactly where the share of
    values at most that edge is p or more, in as many draws as the level asks for.

    Args:
        counts: For each block, how many values are at most each edge, and last how many there are.
        edges: Ascending.
        p: The percentile, as a share.
        level: The coverage.
        seed: Of what is drawn.
        resamples: How often it is.

    Returns:
        None with fewer than two blocks that hold values.
    """
    share, sure = proper(p), proper(level)
    blocks = [block for block in counts if block[-1]]
    if len(blocks) <= 1:
        return None

    def percentile(drawn: Sequence[int]) -> float:
        times = Counter(drawn).items()
        rank = math.ceil(share * sum(blocks[block][-1] * often for block, often in times))
        position = bisect_left(
            range(len(edges)),
            rank,
            key=lambda edge: sum(blocks[block][edge] * often for block, often in times),
        )
        return edges[position] if position < len(edges) else math.inf

    return _middle([percentile(drawn) for drawn in _drawn(len(blocks), seed, resamples)], sure)


def _drawn(count: int, seed: int, resamples: int) -> Iterator[list[int]]:
    """How many of n, with replacement, again and again."""
    random = Random(seed)  # noqa: S311 (a simulation, not a secret)
    for _ in range(resamples):
        yield random.choices(range(count), k=count)


def _middle(statistics: list[float], level: Probability) -> tuple[float, float]:
    """The middle share `level` of all statistics, with equal shares below and above."""
    statistics.sort()
    left_out = math.floor(len(statistics) * (1 - exactly(level)) / 2)
    return statistics[left_out], statistics[-1 - left_out]
