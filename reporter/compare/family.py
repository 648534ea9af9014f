"""Metrics side by side, those that decide with their false alarms bounded together."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING

from reporter.compare import between, paired, within
from reporter.compare.comparison import Cell, Change, Row
from reporter.compare.holm import adjusted

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from reporter.compare.comparison import Finding, Rules
    from reporter.compare.difference import Difference
    from reporter.compare.figure import Figure
    from reporter.compare.metric import Metric
    from reporter.compare.side import Side


@dataclass(frozen=True, slots=True)
class Family:
    """What its rows have in common.

    Attributes:
        sides: The first is the reference.
        rules: When a difference counts.
        decides: Whether the comparison can fail by it.
        by_runs: Whether runs are what is sampled, or what is inside them.
    """

    sides: Sequence[Side]
    rules: Rules
    decides: bool
    by_runs: bool

    def rows(self, metrics: Sequence[Metric]) -> list[Row]:
        """A row for each metric; for one that decides even where no side has a figure of it."""
        figures = {
            metric: [side.figure(metric, self.rules.level) for side in self.sides] for metric in metrics
        }
        there = {metric: cells for metric, cells in figures.items() if self.decides or any(cells)}
        differences = self._differences(there)
        chances = [one.p for one in differences.values() if one is not None and one.p is not None]
        held = iter(adjusted(chances) if self.decides else chances)
        told = {
            pair: (one, None if one is None or one.p is None else next(held))
            for pair, one in differences.items()
        }
        return [
            Row(
                metric=metric.name,
                unit=metric.unit,
                better=metric.better,
                decides=self.decides,
                in_points=metric.is_share,
                figures=tuple(map(_cell, cells, [side.values(metric) for side in self.sides])),
                changes=tuple(
                    self._change(metric, at, *told[metric, at]) for at in range(1, len(self.sides))
                ),
            )
            for metric, cells in there.items()
        ]

    def _differences(
        self, figures: Mapping[Metric, Sequence[Figure | None]]
    ) -> dict[tuple[Metric, int], Difference | None]:
        """Of each metric and each side but the reference."""
        pairs = list(product(figures, range(1, len(self.sides))))
        testable = sum(
            figures[metric][0] is not None and figures[metric][at] is not None for metric, at in pairs
        )
        to_find = 1 - self.rules.alpha / max(1, testable if self.decides else 1)
        return {(metric, at): self._difference(metric, at, figures[metric], to_find) for metric, at in pairs}

    def _difference(
        self, metric: Metric, at: int, figures: Sequence[Figure | None], level_to_find: float
    ) -> Difference | None:
        reference, other = figures[0], figures[at]
        if reference is None or other is None:
            return None
        if self.by_runs:
            return between.difference(
                *(self.sides[0].values(metric), self.sides[at].values(metric)),
                in_points=metric.is_share,
                level=self.rules.level,
                level_to_find=level_to_find,
            )
        levels = {"level": self.rules.level, "level_to_find": level_to_find}
        return paired.difference(reference, other, **levels) or within.difference(
            reference, other, in_points=metric.is_share, **levels
        )

    def _change(self, metric: Metric, at: int, by: Difference | None, adjusted_p: float | None) -> Change:
        name = self.sides[at].name
        if by is None:
            return Change(name, "not tested")
        finding = self._finding(metric, by, adjusted_p)
        floor = self.rules.min_points if metric.is_share else self.rules.min_effect
        return Change(
            *(name, finding, by.by, by.low, by.high, by.p, adjusted_p, by.detectable),
            fails=self.decides and finding == "worse" and abs(by.by) > floor,
        )

    def _finding(self, metric: Metric, by: Difference, adjusted_p: float | None) -> Finding:
        if adjusted_p is None:
            return "not tested"
        if self.by_runs and by.detectable is None:
            return "too few runs"
        if adjusted_p > self.rules.alpha:
            return "no significant difference"
        if metric.better == "neither":
            return "different"
        return "better" if (by.by > 0) == (metric.better == "higher") else "worse"


def _cell(figure: Figure | None, values: Sequence[float]) -> Cell | None:
    if figure is None:
        return None
    return Cell(figure.value, figure.low, figure.high, figure.n, figure.effective, tuple(values))
