"""Whether an endpoint kept up with an open loop, decided once the run is over.

An endpoint that keeps up completes requests at the rate. After the part in which
the run fills up, the measured time is cut into eight blocks of equal length, and their completions are
compared with the rate: the shortfall is beyond chance when it is more than 2.4 standard errors, which the
differences between the blocks give, and it matters from 1.5 % on. An endpoint that was short of requests is
not behind: a fifth of the shortfall at least must be requests that were issued and did not complete. Of
conversations, whose rate is one of beginnings, the first turns are counted.
"""

from __future__ import annotations

import math
from statistics import variance
from typing import TYPE_CHECKING, Final

from lazy_dataclasses import dataclass
from reporter.log.query import query

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

BLOCKS: Final = 8
FILLING: Final = 0.15
"""The part of the run that is left out at least, and all until the first request has completed."""

DEVIATIONS: Final = 2.4
SHORTFALL: Final = 0.015
GREW: Final = 0.2
"""The least part of the shortfall that must be requests that were issued and did not complete."""

_SQL: Final = """
WITH span AS (
    SELECT min(started_ns) AS a, (SELECT min(at_ns) FROM events WHERE type = 'STOP_PERFORMANCE_TRACKING') AS b
    FROM phases
    WHERE phase = 'performance'
), first_turns AS (
    SELECT issued_ns, complete_ns FROM samples WHERE measured AND coalesce(turn, 0) = 0
), done AS (
    SELECT complete_ns AS at_ns FROM first_turns WHERE complete_ns IS NOT NULL
), core AS (
    SELECT greatest(a + $filling * (b - a), (SELECT min(at_ns) FROM done)) AS a, b FROM span
)
SELECT
    (b - a) / 1e9,
    (SELECT count(*) FROM first_turns WHERE issued_ns >= a AND issued_ns < b),
    (SELECT list(number) FROM (
        SELECT count(at_ns) AS number
        FROM range($blocks) AS blocks(k)
        LEFT JOIN done ON at_ns >= a + k * (b - a) / $blocks AND at_ns < a + (k + 1) * (b - a) / $blocks
        GROUP BY k
    ))
FROM core
""".replace("$filling", repr(FILLING)).replace("$blocks", str(BLOCKS))


@dataclass(frozen=True, slots=True)
class KeptUp:
    """Whether an endpoint kept up with a rate.

    Attributes:
        rate: The rate, in req/s.
        completed_rate: The completed req/s.
        behind: Whether it fell behind: by more than chance, and by enough to matter.
    """

    rate: float
    completed_rate: float
    behind: bool


def kept_up(run: Path, rate: float) -> KeptUp | None:
    """Decide from the log of a run; None where nothing completed.

    Raises:
        LogError: The log is missing, damaged, or of a version that cannot be read.
    """
    [(seconds, issued, completed)] = query(run, _SQL).rows
    if seconds is None or seconds <= 0 or not any(completed):
        return None
    return judged(rate, float(seconds), int(issued), completed)


def judged(rate: float, seconds: float, issued: int, completed: Sequence[int]) -> KeptUp:
    """Decide from counts."""
    done = sum(completed)
    short = rate * seconds - done
    # One request more or less does not count: a block may end just before it completes.
    error = math.sqrt(len(completed) * variance(completed) + 1)
    grew = issued - done > GREW * short
    behind = grew and short > SHORTFALL * rate * seconds and short > DEVIATIONS * error
    return KeptUp(rate, done / seconds, behind)
