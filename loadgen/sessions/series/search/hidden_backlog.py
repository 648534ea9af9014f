"""Whether a slowly growing backlog may be hidden by chance in a trial.

An endpoint whose latencies vary does not fall behind steadily. In a trial of a few hundred requests this
variation hides a rate that is 5 % too high. The measured time is cut into blocks; that the endpoint kept up
is in doubt if it may have been short of more than a share of the rate, within one standard error of the
observation. Either of two figures is enough: the completed requests, which vary little where an endpoint is
busy all the time, and those issued and not completed, which vary little where it is not.
"""

from __future__ import annotations

import math
from statistics import variance
from typing import TYPE_CHECKING, Final

from reporter.findings.rate_held import BLOCKS, FILLING
from reporter.log.query import query

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

SHORT: Final = 0.06
"""The share of the rate that a slow endpoint may be short of without being detected."""

_SQL: Final = """
WITH span AS (
    SELECT min(started_ns) AS a, (SELECT min(at_ns) FROM events WHERE type = 'STOP_PERFORMANCE_TRACKING') AS b
    FROM phases
    WHERE phase = 'performance'
), core AS (
    SELECT (a + $filling * (b - a))::BIGINT AS a, b FROM span
), blocks AS (
    SELECT k, a + k * (b - a) / $blocks AS since, a + (k + 1) * (b - a) / $blocks AS until
    FROM core, range($blocks) AS numbers(k)
), first_turns AS (
    SELECT issued_ns, complete_ns FROM samples WHERE measured AND coalesce(turn, 0) = 0
)
SELECT
    (until - since) / 1e9,
    (SELECT count(*) FROM first_turns WHERE issued_ns >= since AND issued_ns < until),
    (SELECT count(*) FROM first_turns WHERE complete_ns >= since AND complete_ns < until)
FROM blocks
""".replace("$filling", repr(FILLING)).replace("$blocks", str(BLOCKS))


def may_hide(run: Path, rate: float) -> bool:
    """Decide from the log of a run."""
    seconds, issued, completed = zip(*query(run, _SQL).rows, strict=True)
    return may_grow(rate * sum(seconds), issued, completed)


def may_grow(expected: float, issued: Sequence[int], completed: Sequence[int]) -> bool:
    """Decide from counts.

    Args:
        expected: The expected requests of the rate, in all blocks together.
        issued: How many requests were issued, block by block.
        completed: How many completed, block by block.
    """
    grown = [begun - done for begun, done in zip(issued, completed, strict=True)]
    shortage = min(expected - sum(completed) + _error(completed), sum(grown) + _error(grown))
    return shortage > SHORT * expected


def _error(counts: Sequence[int]) -> float:
    """The standard error of the sum, at least one: a block may end just before a request does."""
    return math.sqrt(len(counts) * variance(counts) + 1)
