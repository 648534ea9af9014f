"""Changes of deciding metrics that a comparison could not have found, with the sample size that would do."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

    from reporter.compare.comparison import ComparisonRow, Rules

BLIND: Final = 30
"""The multiple of `min_effect`, or `min_points`, up to which an undetectable change is accepted."""


def shortcomings(row: ComparisonRow, rules: Rules, *, by_runs: bool) -> Iterator[str]:
    """Messages that a change in a metric is untested, or would have to be far larger than what may fail.

    Args:
        row: The metric.
        rules: When a difference counts.
        by_runs: Whether runs, and not requests, are the sampling units.
    """
    limit = BLIND * (rules.min_points if row.in_points else rules.min_effect)
    units = "runs" if by_runs else "requests"
    reference = row.figures[0]
    for cell, change in zip(row.figures[1:], row.changes, strict=True):
        if cell is None or reference is None:
            continue
        name = f"{row.metric} of {change.side}"
        if change.finding == "too few requests":
            enough = f"{change.needed or 0:,} requests a side"
            yield f"{name} cannot be tested: send {enough}, or leave it out (--metric)"
        elif change.finding == "not tested":
            yield f"{name} cannot be tested: compare runs with their logs, or several runs a side"
        elif (
            change.finding == "no significant difference"
            and change.detectable is not None
            and limit
            and (smallest := _scaled(change.detectable, row)) > (wanted := _scaled(limit, row))
        ):
            needed = math.ceil(min(reference.n, cell.n) * (smallest / wanted) ** 2)
            yield (
                f"{name}: only a change above {_words(change.detectable, row)} would be found; about "
                f"{needed:,} {units} a side find one of {_words(limit, row)}"
            )


def _scaled(change: float, row: ComparisonRow) -> float:
    """A change on the scale on which standard errors shrink with the root of the number."""
    return change if row.in_points else math.log1p(change)


def _words(change: float, row: ComparisonRow) -> str:
    return f"{100 * change:.0f} {'points' if row.in_points else '%'}"
