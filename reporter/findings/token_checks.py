"""The counts that checks take from the log: of tokens, and of failures since which the endpoint was gone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from lazy_dataclasses import dataclass, fields
from reporter.log.database import figures

if TYPE_CHECKING:
    from collections.abc import Mapping

    from reporter.log.database import OpenLog
    from reporter.report import RequestCounts


@dataclass(frozen=True, slots=True)
class TokenChecks:
    """The row of reporter/sql/figures/token_checks.sql."""

    several_choices: int = 0
    reasoning_added: int = 0
    unequal: int = 0
    unequal_example: Mapping[str, int | None] | None = None
    compared: int = 0
    too_few: int = 0
    too_few_example: Mapping[str, int] | None = None
    too_many: int = 0
    too_many_example: Mapping[str, int] | None = None
    reasoning_reported: int | None = None
    reasoning_tokens: int | None = None
    output_tokens: int | None = None
    reasoning_chars: int | None = None
    characters: int | None = None
    paced_tokens: int | None = None
    paced_chunks: int | None = None
    held_back: int = 0
    held_back_unknown: int = 0


def token_checks(log: OpenLog) -> TokenChecks:
    """Compare the counts of a log with each other and with the texts."""
    row: Mapping[str, Any] = figures(log, "token_checks")
    return TokenChecks(**{field.name: row[field.name] for field in fields(TokenChecks)})


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
