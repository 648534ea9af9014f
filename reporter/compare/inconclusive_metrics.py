"""Deciding metrics in which a comparison does not exclude a large change for the worse, with what would."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

    from reporter.compare.comparison import ComparisonRow, MetricChange, Rules

LARGE: Final = 30
"""A change for the worse of this many times `min_effect`, or `min_points`, must be excluded."""

_LEAST: Final = -1 + 1e-12


def shortcomings(row: ComparisonRow, rules: Rules, *, by_runs: bool) -> Iterator[str]:
    """Messages that a metric is untested, or that its interval has room for a large change for the worse.

    Args:
        row: The metric.
        rules: When a difference counts.
        by_runs: Whether runs, and not requests, are the sampling units.
    """
    large = LARGE * (rules.min_points if row.in_points else rules.min_effect)
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
        elif change.finding == "no significant difference" and large:
            yield from _open(row, change, large, f"{units} a side, or leave it out (--metric)")


def _open(row: ComparisonRow, change: MetricChange, large: float, rest: str) -> Iterator[str]:
    """The message that the interval of a change goes beyond a large change for the worse."""
    name, worst = f"{row.metric} of {change.side}", _worst(row, change)
    limit, unit = _scaled(large, row), "points" if row.in_points else "%"
    if worst is None:
        # An interval without an end is narrow all the same where no pair of scores differs.
        if change.detectable is None or _scaled(change.detectable, row) > limit:
            yield f"{name}: a change of any size is not excluded; take more {rest}"
    elif (far := abs(_scaled(worst, row)) / limit) > 1:
        fewest = min(0 if cell is None else cell.n for cell in row.figures)
        size = "any size" if row.in_points and abs(worst) >= 1 else f"{100 * worst:+.0f} {unit}"
        yield (
            f"{name}: a change of {size} is not excluded; take about {math.ceil(fewest * far**2):,} {rest}"
        )


def _worst(row: ComparisonRow, change: MetricChange) -> float | None:
    """The worst change in the interval; None without an end on that side."""
    low = 0.0 if row.better == "lower" else change.low
    high = 0.0 if row.better == "higher" else change.high
    if low is None or high is None:
        return None
    return max(min(low, 0.0), max(high, 0.0), key=lambda end: abs(_scaled(end, row)))


def _scaled(change: float, row: ComparisonRow) -> float:
    """A change on the scale on which standard errors shrink with the root of the number."""
    return change if row.in_points else math.log1p(max(change, _LEAST))
