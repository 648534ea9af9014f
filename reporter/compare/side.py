"""A side of a comparison: one run, or several of one system."""

from __future__ import annotations

from statistics import median
from typing import TYPE_CHECKING, Final, Literal

from lazy_dataclasses import dataclass, field, replace
from reporter.compare.comparable import facts, run_faults
from reporter.compare.compared_figure import ComparedFigure, figure
from reporter.compare.compared_metric import metric as read
from reporter.imported import own_figures
from reporter.json_values import members
from rulesets.scores import main
from rulesets.session_evidence import completed as sessions_completed
from rulesets.statistics import order_statistics

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from reporter.compare.comparable import Facts, Mismatch
    from reporter.compare.compared_metric import ComparedMetric
    from reporter.log.settings import LogHead
    from rulesets.evidence import Evidence

    Ends = tuple[ComparedFigure, ComparedFigure]


End = Literal["least", "most"]
"""The ends of a figure's interval."""


@dataclass(frozen=True, slots=True)
class ComparedRun:
    """The data of one run that a comparison needs after the run is closed.

    Attributes:
        figures: By the names of the metrics; None where it has none.
        ends: Of those that are in doubt, the least and the most that they can be.
        requests: How many completed.
        sessions: How many sessions completed; None of a run without any.
        model: Its model; empty where it is not known.
        dataset: What it asked; as above.
    """

    name: str
    facts: Facts
    faults: tuple[Mismatch, ...]
    figures: Mapping[str, ComparedFigure | None]
    ends: Mapping[str, Ends] = field(default_factory=dict)
    scores: tuple[str, ...] = ()
    requests: int | None = None
    sessions: int | None = None
    model: str = ""
    dataset: str = ""

    def at(self, end: End) -> ComparedRun:
        """The run with all figures at the minimum, or at the maximum."""
        place = 0 if end == "least" else 1
        figures = {name: ends[place] for name, ends in self.ends.items()}
        return replace(self, figures={**self.figures, **figures}, ends={})


@dataclass(frozen=True, slots=True)
class Side:
    """One run, or several that are replicates of each other."""

    name: str
    runs: tuple[ComparedRun, ...]

    @property
    def requests(self) -> int | None:
        """The completed requests of all runs; None if unknown for one."""
        counts = [run.requests for run in self.runs]
        return None if None in counts else sum(count or 0 for count in counts)

    @property
    def sessions(self) -> int | None:
        """The completed sessions of all runs; None without any."""
        counts = [run.sessions for run in self.runs if run.sessions is not None]
        return sum(counts) if counts else None

    def is_in_doubt(self, metric: ComparedMetric) -> bool:
        """Whether the figure of any run is in doubt."""
        return any(metric.name in run.ends for run in self.runs)

    def at(self, end: End) -> Side:
        """The side with all figures at the minimum, or at the maximum."""
        return replace(self, runs=tuple(run.at(end) for run in self.runs))

    def values(self, metric: ComparedMetric) -> list[float]:
        """The figures of the runs that have the metric."""
        return [figure.value for run in self.runs if (figure := run.figures.get(metric.name)) is not None]

    def figure(self, metric: ComparedMetric, level: float) -> ComparedFigure | None:
        """The figure of a single run; of several runs the median, with an interval by order statistics.

        That takes six runs at least (at 95 %).
        """
        if len(self.runs) == 1:
            return self.runs[0].figures.get(metric.name)
        values = sorted(self.values(metric))
        if not values:
            return None
        ranks = order_statistics.interval(len(values), 0.5, level)
        low, high = (None if rank is None else values[rank] for rank in (ranks.lower, ranks.upper))
        first = next(figure for run in self.runs if (figure := run.figures.get(metric.name)) is not None)
        return ComparedFigure(
            median(values), len(values), low, high, is_share=first.is_share, better=first.better
        )


def look(
    name: str,
    run: Evidence,
    log_head: LogHead,
    metrics: Sequence[ComparedMetric],
    level: float,
) -> ComparedRun:
    """Read the data of a run that a comparison needs."""
    report = run.report
    ends = {metric.name: _ends(run, metric, level) for metric in metrics if metric.kind in _IN_DOUBT}
    scores = [read(f"accuracy.{score}") for score in main(report.get("accuracy") or ())]
    of_run = members(report.get("run"))
    counts = own_figures(report) or members(report.get("counts"))
    completed = counts.get("completed")
    return ComparedRun(
        name,
        facts(report, log_head.settings, log_head.environment),
        tuple(run_faults(name, report)),
        {metric.name: figure(run, metric, level) for metric in dict.fromkeys((*metrics, *scores))},
        {name: figures for name, figures in ends.items() if figures is not None},
        tuple(score.name for score in scores),
        completed if isinstance(completed, int) else None,
        sessions_completed(report),
        str(of_run.get("model") or ""),
        str(members(of_run.get("dataset")).get("name") or ""),
    )


_IN_DOUBT: Final = frozenset({"mean", "percentile", "good"})
"""Kinds of figures that depend on when chunks arrived."""


def _ends(run: Evidence, metric: ComparedMetric, level: float) -> Ends | None:
    """The minimum and maximum of a figure; None for an exact figure."""
    figures = [figure_at_end for end in run.ends if (figure_at_end := figure(end, metric, level)) is not None]
    least, greatest = (
        pick(figures, key=lambda figure_at_end: figure_at_end.value, default=None) for pick in (min, max)
    )
    return None if least is None or greatest is None or least.value == greatest.value else (least, greatest)


def common_scores(sides: Sequence[Side]) -> tuple[list[str], list[str]]:
    """The scores that every run of every side has, and those that only some have."""
    every = [set(run.scores) for side in sides for run in side.runs]
    names = dict.fromkeys(name for side in sides for run in side.runs for name in run.scores)
    common = [name for name in names if all(name in scores for scores in every)]
    return common, [name for name in names if name not in common]
