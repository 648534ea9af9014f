"""Blocks of time in a run: when they can be taken for independent, and how many requests they are worth.

The *effective number* of requests is n / d. The design effect d is the variance of a share that its blocks
show over the p (1 - p) / n that it has of independent requests (L. Kish, Survey Sampling, 1965, 8.2). The
blocks are clusters of unequal size, so that variance is a ratio estimator's (W. G. Cochran, Sampling
Techniques, 1977, 11.8): b / (b - 1) times the sum of (count - p of)² over n².
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

from rulesets.statistics import batch_means, normal, student

Blocks = Sequence[tuple[float, float]]
"""For each block a total, and of how many: their ratio is the figure of the block."""

FEWEST_BLOCKS: Final = batch_means.FEWEST
"""Fewer say nothing of how a figure scatters."""


def grouped(blocks: Blocks) -> Blocks:
    """Neighbours together, two by two, until they do not resemble each other or few are left.

    As `batch_means.grouped` does with blocks that weigh the same.
    """
    while len(blocks) >= 2 * FEWEST_BLOCKS and _autocorrelation(blocks) > batch_means.RESEMBLANCE:
        pairs = zip(blocks[::2], blocks[1::2], strict=False)
        blocks = [(a + b, of_a + of_b) for (a, of_a), (b, of_b) in pairs]
    return blocks


def effective_number(blocks: Blocks, level: float, n: int) -> int:
    """How many independent requests would scatter as much over blocks as these did.

    It is never more than n, and is made smaller by (z / t)², for a few blocks are little to tell a variance
    by.

    Args:
        blocks: For each, how many there were of what is counted, and of how many.
        level: Of the interval that it is for.
        n: How many there are.
    """
    kept = grouped([block for block in blocks if block[1]])
    total = sum(of for _, of in kept)
    p = sum(count for count, _ in kept) / total if total else 0.0
    freedom = len(kept) - 1
    if len(kept) < FEWEST_BLOCKS or not 0 < p < 1:
        return n
    variance = len(kept) / freedom * sum((count - p * of) ** 2 for count, of in kept) / total**2
    few = (student.bound(level, freedom) / normal.quantile((1 + level) / 2)) ** 2
    effect = variance / (p * (1 - p) / total)
    return max(1, math.floor(n / max(1.0, effect * few)))


def _autocorrelation(blocks: Blocks) -> float:
    """Of the blocks' figures, with their neighbours'."""
    return batch_means.autocorrelation([total / of for total, of in blocks])
