"""How many samples of a run are over a bound: what the confidence in a percentile rests on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from reporter.query import query

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from rulesets.target import Target


@dataclass(frozen=True, slots=True)
class Exceeding:
    """Of so many samples (gaps for ITL, requests for all others), so many are over the bound."""

    over: int
    count: int


def exceeding(run: Path, targets: Sequence[Target]) -> list[Exceeding]:
    """Count, for each target on a latency, its samples and those that do not meet its bound.

    Raises:
        LogError: There is no log that this version reads, or it is damaged.
    """
    if not targets:
        return []
    answer = query(
        run, " UNION ALL ".join(f"({_counting(number, one)})" for number, one in enumerate(targets))
    )
    return [Exceeding(over, count) for _, over, count in sorted(answer.rows)]


def _counting(number: int, target: Target) -> str:
    if target.metric == "itl":
        counted = "value, weight FROM gap_counts"
    else:
        counted = (
            f"{target.metric}_ms AS value, 1 AS weight FROM samples WHERE measured AND status = 'completed'"
        )
    return (
        f"SELECT {number}, coalesce(sum(weight) FILTER (NOT value {target.op} {target.bound!r}), 0)::BIGINT, "  # noqa: S608 (names and operators are of a fixed set)
        f"coalesce(sum(weight) FILTER (value IS NOT NULL), 0)::BIGINT FROM (SELECT {counted})"
    )
