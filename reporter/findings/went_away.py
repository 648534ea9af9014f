"""Whether an endpoint went away: from a moment on until the end of the run nothing was answered."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from reporter.log.database import OpenLog
    from reporter.report import RequestCounts

_GONE: Final = frozenset(
    (
        "refused",
        "reset",
        "truncated",
        "connect_timeout",
        "dns",
        "http_500",
        "http_502",
        "http_503",
        "http_504",
    )
)
"""Failures at an endpoint, or behind a gateway, whose server is down."""

_FEWEST_GONE: Final = 5
_SQL: Final = """
WITH last AS (
    SELECT max(ended_ns) FILTER (status = 'completed') AS at_ns, min(issued_ns) AS start_ns
    FROM requests
    WHERE measured
)
SELECT error, count(*), (min(ended_ns) - any_value(start_ns)) / 1e9
FROM requests, last
WHERE measured AND status = 'failed' AND ended_ns > at_ns
GROUP BY error
"""


@dataclass(frozen=True, slots=True)
class WentAway:
    """The end of an endpoint: from a moment on no request completed, and those that ended failed.

    Attributes:
        after_s: The first of these failures, in seconds from the first issue.
    """

    after_s: float
    requests: int


def went_away(log: OpenLog, counts: RequestCounts) -> WentAway | None:
    """Find the moment from which an endpoint was gone; None where it answered until the end."""
    if counts.failed < _FEWEST_GONE or not counts.completed:
        return None
    tail = log.execute(_SQL).fetchall()
    gone = [(count, after_s) for error, count, after_s in tail if error in _GONE]
    requests = sum(count for count, _ in gone)
    half = max(counts.failed, sum(count for _, count, _ in tail) + _FEWEST_GONE) / 2
    if requests < max(_FEWEST_GONE, half):
        return None
    return WentAway(min(after_s for _, after_s in gone), requests)
