"""A side of a comparison: one run, or several of the same system."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING

from reporter.compare.comparable import facts, faults
from reporter.compare.figure import Figure, figure
from rulesets.statistics import order_statistics

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from reporter.compare.comparable import Facts, Unlike
    from reporter.compare.metric import Metric
    from rulesets.evidence import Evidence


@dataclass(frozen=True, slots=True)
class Run:
    """What a comparison needs of one run, when the run itself is closed again.

    Attributes:
        name: As it was named.
        facts: What it was.
        faults: What is wrong with it by itself.
        figures: By the names of the metrics; None where it has none.
    """

    name: str
    facts: Facts
    faults: tuple[Unlike, ...]
    figures: Mapping[str, Figure | None]


@dataclass(frozen=True, slots=True)
class Side:
    """One run, or several that are replicates of each other."""

    name: str
    runs: tuple[Run, ...]

    def values(self, metric: Metric) -> list[float]:
        """The figure of each run that has it."""
        return [found.value for run in self.runs if (found := run.figures[metric.name]) is not None]

    def figure(self, metric: Metric, level: float) -> Figure | None:
        """Of one run its figure; of several the median, with its interval by order statistics.

        That takes six runs at least (at 95 %).
        """
        if len(self.runs) == 1:
            return self.runs[0].figures[metric.name]
        values = sorted(self.values(metric))
        if not values:
            return None
        ranks = order_statistics.interval(len(values), 0.5, level)
        low, high = (None if rank is None else values[rank] for rank in (ranks.lower, ranks.upper))
        return Figure(median(values), len(values), low, high)


def look(
    name: str,
    run: Evidence,
    told: tuple[Mapping[str, Any], Mapping[str, Any]],
    metrics: Sequence[Metric],
    level: float,
) -> Run:
    """Take down what a comparison needs of a run.

    Args:
        name: What to call it.
        run: The run.
        told: Settings and environment of its log (`references.told`).
        metrics: Which figures.
        level: Of their intervals.
    """
    return Run(
        name,
        facts(run.report, *told),
        tuple(faults(name, run.report)),
        {metric.name: figure(run, metric, level) for metric in metrics},
    )
