"""The rows of a comparison: metrics side by side, with one bound on the false alarms of all that decide."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

from lazy_dataclasses import dataclass, replace
from reporter.compare import between, paired_scores, within
from reporter.compare.comparison import Cell, ComparisonRow, MetricChange
from reporter.compare.within import percentile_difference

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from reporter.compare.compared_figure import ComparedFigure, FigureDifference
    from reporter.compare.compared_metric import ComparedMetric
    from reporter.compare.comparison import Finding, Rules
    from reporter.compare.side import End, Side
    from rulesets.quantity import Better


def adjusted(chances: Sequence[float]) -> list[float]:
    """The adjusted p-values of a family, each to be compared with alpha, in the given order.

    The smallest of m is multiplied by m, the next by m - 1, and so on; none becomes smaller than one before
    it.
    """
    order = sorted(range(len(chances)), key=chances.__getitem__)
    least, made = 0.0, [1.0] * len(chances)
    for place, index in enumerate(order):
        least = max(least, min(1.0, (len(chances) - place) * chances[index]))
        made[index] = least
    return made


@dataclass(frozen=True, slots=True)
class Family:
    """The rows of one family of tests.

    Attributes:
        sides: The first is the reference.
        decides: Whether the comparison can fail by it.
        by_runs: Whether the sampling units are runs, or the requests in them.
    """

    sides: Sequence[Side]
    rules: Rules
    decides: bool
    by_runs: bool

    def rows(self, metrics: Sequence[ComparedMetric]) -> list[ComparisonRow]:
        """A row for each metric; for a deciding metric even without any side's figure.

        Uncertain figures are compared at both extremes too: a difference is greatest with the reference at
        its least and the other side at its most.
        """
        rows = self._rows(metrics)
        doubtful = {metric.name for metric in metrics if any(side.is_in_doubt(metric) for side in self.sides)}
        if not doubtful:
            return rows
        smallest = self._changes(metrics, "most", "least")
        greatest = self._changes(metrics, "least", "most")
        return [
            replace(
                row, changes=tuple(map(in_doubt, row.changes, smallest[row.metric], greatest[row.metric]))
            )
            if row.metric in doubtful
            else row
            for row in rows
        ]

    def _changes(
        self, metrics: Sequence[ComparedMetric], reference: End, others: End
    ) -> dict[str, tuple[MetricChange, ...]]:
        """The changes between the ends of figures' intervals, by metric."""
        first, *further = self.sides
        sides = (first.at(reference), *(side.at(others) for side in further))
        return {row.metric: row.changes for row in replace(self, sides=sides).rows(metrics)}

    def _rows(self, metrics: Sequence[ComparedMetric]) -> list[ComparisonRow]:
        figures = {
            metric: [side.figure(metric, self.rules.level) for side in self.sides] for metric in metrics
        }
        there = {metric: cells for metric, cells in figures.items() if self.decides or any(cells)}
        differences = self._differences(there)
        tested = {
            pair: difference.p
            for pair, difference in differences.items()
            if difference is not None and difference.p is not None
        }
        counted = {pair: p for pair, p in tested.items() if not self._constant(*pair)}
        held = dict(zip(counted, adjusted(list(counted.values())), strict=True)) if self.decides else {}
        differences_with_p = {
            pair: (difference, held.get(pair, tested.get(pair))) for pair, difference in differences.items()
        }
        return [
            ComparisonRow(
                metric=metric.name,
                unit=metric.unit,
                better=_better(metric, cells),
                decides=self.decides,
                in_points=_in_points(metric, cells),
                figures=tuple(map(_cell, cells, [side.values(metric) for side in self.sides])),
                changes=tuple(
                    self._change(metric, cells, side, *differences_with_p[metric, side])
                    for side in range(1, len(self.sides))
                ),
            )
            for metric, cells in there.items()
        ]

    def _constant(self, metric: ComparedMetric, side: int) -> bool:
        values = (*self.sides[0].values(metric), *self.sides[side].values(metric))
        return is_constant(values, by_runs=self.by_runs, of_requests=metric.kind == "error")

    def _differences(
        self, figures: Mapping[ComparedMetric, Sequence[ComparedFigure | None]]
    ) -> dict[tuple[ComparedMetric, int], FigureDifference | None]:
        """Of each metric and each side but the reference."""
        pairs = list(product(figures, range(1, len(self.sides))))
        testable = sum(
            figures[metric][0] is not None
            and figures[metric][side] is not None
            and not self._constant(metric, side)
            for metric, side in pairs
        )
        to_find = 1 - self.rules.alpha / max(1, testable if self.decides else 1)
        return {
            (metric, side): self._difference(metric, side, figures[metric], to_find) for metric, side in pairs
        }

    def _difference(
        self,
        metric: ComparedMetric,
        side: int,
        figures: Sequence[ComparedFigure | None],
        level_to_find: float,
    ) -> FigureDifference | None:
        reference, other = figures[0], figures[side]
        if reference is None or other is None:
            return None
        if self.by_runs:
            return between.difference(
                *(self.sides[0].values(metric), self.sides[side].values(metric)),
                in_points=_in_points(metric, figures),
                level=self.rules.level,
                level_to_find=level_to_find,
            )
        levels = {"level": self.rules.level, "level_to_find": level_to_find}
        in_points = _in_points(metric, figures)
        if metric.kind == "accuracy":
            difference = paired_scores.difference(reference, other, in_points=in_points, **levels)
        else:
            difference = (
                None if metric.p is None else percentile_difference(reference, other, metric.p, **levels)
            )
        return difference or within.difference(reference, other, in_points=in_points, **levels)

    def _change(
        self,
        metric: ComparedMetric,
        figures: Sequence[ComparedFigure | None],
        side: int,
        by: FigureDifference | None,
        adjusted_p: float | None,
    ) -> MetricChange:
        name = self.sides[side].name
        if by is None:
            return MetricChange(name, "not tested")
        better = _better(metric, figures)
        finding = self._finding(better, by, adjusted_p)
        floor = self.rules.min_points if _in_points(metric, figures) else self.rules.min_effect
        return MetricChange(
            *(name, finding, by.by, by.low, by.high, by.p, adjusted_p, by.detectable),
            fails=self.decides and finding == "worse" and abs(by.by) > floor,
            needed=by.needed,
            paired=by.paired,
        )

    def _finding(self, better: Better, by: FigureDifference, adjusted_p: float | None) -> Finding:
        if adjusted_p is None:
            return "not tested" if by.needed is None else "too few requests"
        if self.by_runs and by.detectable is None:
            return "too few runs"
        if adjusted_p > self.rules.alpha:
            return "no significant difference"
        if better == "neither":
            return "different"
        return "better" if (by.by > 0) == (better == "higher") else "worse"


def in_doubt(change: MetricChange, smallest: MetricChange, greatest: MetricChange) -> MetricChange:
    """A change with the values at both extremes; in doubt if the extremes lead to different findings."""
    least, greatest_change = smallest.by, greatest.by
    turns = least is not None and greatest_change is not None and least * greatest_change < 0
    alike = {(change_at_end.finding, change_at_end.fails) for change_at_end in (change, smallest, greatest)}
    if len(alike) > 1 or (change.finding == "different" and turns):
        change = replace(change, finding="in doubt", fails=False)
    return replace(change, least=least, most=greatest_change)


def is_constant(values: Sequence[float], *, by_runs: bool, of_requests: bool) -> bool:
    """Whether all samples are equal, so that no test can be significant.

    Such a test does not count in the family: R. E. Tarone, "A modified Bonferroni method for discrete data",
    Biometrics 46, 1990.
    """
    return len(set(values)) == 1 and (by_runs or (of_requests and values[0] in {0.0, 1.0}))


def _in_points(metric: ComparedMetric, figures: Sequence[ComparedFigure | None]) -> bool:
    """Whether differences are in percentage points: of shares, and of scores that are shares."""
    return metric.is_share or (
        metric.kind == "accuracy" and all(figure.is_share for figure in figures if figure is not None)
    )


def _better(metric: ComparedMetric, figures: Sequence[ComparedFigure | None]) -> Better:
    """The better direction; for a score, that of the benchmark."""
    if metric.kind != "accuracy":
        return metric.better
    return next((figure.better for figure in figures if figure is not None), metric.better)


def _cell(figure: ComparedFigure | None, values: Sequence[float]) -> Cell | None:
    if figure is None:
        return None
    return Cell(figure.value, figure.low, figure.high, figure.n, figure.effective, tuple(values))
