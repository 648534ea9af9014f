"""The mean over tasks, where the rule of a benchmark is that and not the mean over attempts."""

from __future__ import annotations

from collections import defaultdict
from statistics import fmean
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from loadgen.plugins.imports.results.harness_results import Attempt


def values_by_task(attempts: Sequence[Attempt]) -> dict[tuple[str, str], list[float | None]]:
    """The values of all attempts, by the part and the task."""
    values: dict[tuple[str, str], list[float | None]] = defaultdict(list)
    for attempt in attempts:
        values[attempt.part, attempt.task_id].append(0.0 if attempt.ending == "failed" else attempt.value)
    return values


def unequal_note(attempts: Sequence[Attempt]) -> list[str]:
    """A note with the mean over tasks, if different from the mean over attempts; else empty."""
    by_task = values_by_task(attempts).values()
    if len({len(values) for values in by_task}) < 2:  # noqa: PLR2004 (all have the same number)
        return []
    mean = fmean(fmean(value or 0.0 for value in values) for values in by_task)
    return [
        f"tasks have different numbers of attempts: the mean over tasks, which is the rule, is {mean:.4f}"
    ]
