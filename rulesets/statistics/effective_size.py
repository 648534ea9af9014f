"""The effective number of requests: the number of independent requests with equal information.

L. Kish, Survey Sampling (1965), 8.2: n / D, with the design effect D (long_run.py). D is an estimate, so that
n / D is multiplied by (z/t)²: E. L. Korn and B. I. Graubard, "Confidence intervals for proportions with small
expected number of positive counts estimated from survey data", Survey Methodology 24, 1998.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

from rulesets.statistics import normal, student
from rulesets.statistics.long_run import long_run

if TYPE_CHECKING:
    from collections.abc import Sequence

FEWEST: Final = 4
"""No run counts for fewer independent requests: fewer cannot differ at 5 %."""


def of_share(cells: Sequence[tuple[float, float]], level: float) -> int | None:
    """The effective number of requests behind a share, at most the number of requests.

    Args:
        cells: In the order of time, how many requests and how many that count; each cell is a request, or a
            span of time.
        level: Of the two-sided interval that the number is for.

    Returns:
        None with fewer than 8 cells.
    """
    n = round(sum(of for of, _ in cells))
    share = sum(amount for _, amount in cells) / n if n else 0.0
    varies = long_run([amount - share * of for of, amount in cells])
    if varies is None:
        return None
    of_share = varies.of_mean * (len(cells) / n) ** 2 if n else 0.0
    if not of_share:
        return n
    return min(n, max(FEWEST, math.floor(share * (1 - share) / of_share * _few(level, varies.freedom))))


def _few(level: float, freedom: float) -> float:
    """(z/t)²."""
    z = normal.quantile((1 + level) / 2)
    return (z / student.bound(level, 2 * freedom)) ** 2 if z else 1.0
