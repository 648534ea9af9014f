"""Which metrics decide by default: those of `DECIDING`, each percentile as high as the runs can tell."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

from reporter.compare.compared_metric import DECIDING, metric

if TYPE_CHECKING:
    from collections.abc import Sequence
    from fractions import Fraction

    from reporter.compare.compared_figure import ComparedFigure
    from reporter.compare.compared_metric import ComparedMetric
    from reporter.compare.side import Side

BEYOND: Final = 10
"""The fewest independent requests beyond a percentile, on each side, with which it decides by default."""

_LOWER: Final = (95, 90)
"""The percentiles that decide in place of a higher one."""


def primary(sides: Sequence[Side]) -> tuple[list[ComparedMetric], list[str]]:
    """Choose the metrics that decide, with a note on each percentile that these runs cannot tell.

    The choice depends on the effective number of requests only: the chance of a false alarm stays as it is.
    Groups of runs, and runs without their logs, keep the highest percentiles.
    """
    chosen, notes = [], []
    for asked in map(metric, DECIDING):
        needed = _needed(sides, asked)
        if asked.p is None or needed is None:
            chosen.append(asked)
            continue
        names = (f"{asked.of}:p({lower})" for lower in _LOWER)
        other = next((lower for lower in map(metric, names) if _needed(sides, lower) is None), None)
        takes = f"takes about {needed:,} such requests a side: {BEYOND} independent ones beyond it"
        if other is None:
            notes.append(f"{asked.name}, which {takes}, does not decide")
        else:
            chosen.append(other)
            notes.append(f"{other.name} decides in place of {asked.name}, which {takes}")
    return chosen, notes


def _needed(sides: Sequence[Side], asked: ComparedMetric) -> int | None:
    """How many requests a side would need for a percentile to decide; None where the runs have enough."""
    figures = [run.figures.get(asked.name) for side in sides for run in side.runs]
    if len(figures) > len(sides) or asked.p is None:
        return None
    return max((needed for each in figures if (needed := _needed_of(each, asked.p))), default=None)


def _needed_of(figure: ComparedFigure | None, p: Fraction) -> int | None:
    if figure is None or figure.ordered is None:
        return None
    fewest = math.ceil(BEYOND / (1 - p))
    return None if figure.ordered.n >= fewest else math.ceil(fewest * figure.n / figure.ordered.n)
