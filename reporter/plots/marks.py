"""The marks of the plots of one run: phases on time axes, and bounds of rules."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Final, Literal

from lazy_dataclasses import dataclass, field
from reporter.live.target_tallies import targets_of
from reporter.log.run_head import logged_settings
from reporter.number_text import seconds
from reporter.plots.over_time import SEGMENTS
from rulesets.errors import ExpressionError
from rulesets.expression import described, parse

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from reporter.log.database import OpenLog
    from rulesets.target import Target
    from rulesets.verdict import VerdictRow


@dataclass(frozen=True, slots=True)
class TargetLine:
    """A line across a plot.

    Attributes:
        bound: The bound, in the unit of that axis.
    """

    axis: Literal["x", "y"]
    bound: float
    label: str


_LINED_PLOTS: Final[Mapping[str, Sequence[tuple[str, Literal["x", "y"]]]]] = {
    **{
        metric: (
            (f"{metric}-over-time", "y"),
            (f"{metric}-histogram", "x"),
            (f"{metric}-cdf", "x"),
            (f"{metric}-percentiles", "y"),
        )
        for metric in ("ttft", "tpot", "itl", "latency")
    },
    "qps": (("rate-over-time", "y"),),
    "output_tps": (("tokens-over-time", "y"),),
}
"""The plots with figures of a metric on the axis, by metric."""


def target_lines(rows: Iterable[VerdictRow]) -> Mapping[str, tuple[TargetLine, ...]]:
    """The lines of each plot, by name: targets on all requests, and the conditions of a goodput."""
    return lines_of(_targets_of_rows(rows))


def _targets_of_rows(rows: Iterable[VerdictRow]) -> Iterator[tuple[Target, str]]:
    for row in rows:
        if row.group in {"target", "goodput"}:
            with suppress(ExpressionError):
                yield parse(row.target), row.target


def lines_of(targets: Iterable[tuple[Target, str]]) -> Mapping[str, tuple[TargetLine, ...]]:
    """The lines of each plot, from targets with labels."""
    lines: dict[str, dict[TargetLine, None]] = {}
    for target, label in targets:
        for metric, bound, text in _bounds(target, label):
            for plot, axis in _LINED_PLOTS.get(metric, ()):
                lines.setdefault(plot, {})[TargetLine(axis, bound, text)] = None
    return {plot: tuple(of_plot) for plot, of_plot in lines.items()}


def _bounds(target: Target, label: str) -> Iterator[tuple[str, float, str]]:
    """The metric, the bound and the text of each bound of a target."""
    if target.where or target.delta:
        return
    yield target.metric, target.bound, label
    for condition in target.conditions:
        yield condition.metric, condition.bound, str(condition)


@dataclass(frozen=True, slots=True)
class RunPhase:
    """A span of a run, in seconds since the start of the measured window."""

    name: str
    start_s: float
    end_s: float


PHASES: Final = f"""\
{SEGMENTS}

SELECT phase, (greatest(started_ns, first_ns) - origin_ns) / 1e9 AS start_s,
    (least(ended_ns, last_ns) - origin_ns) / 1e9 AS end_s
FROM (
    SELECT segment, 'warm-up' AS phase, started_ns, ended_ns FROM phases WHERE phase = 'warmup'
    UNION ALL
    SELECT segment, 'window', start_ns, end_ns FROM windows
    UNION ALL
    SELECT segment, 'drain', greatest(phases.started_ns, end_ns), ended_ns
    FROM phases JOIN windows USING (segment)
    WHERE phase = 'drain'
) JOIN clock USING (segment)
WHERE start_s < end_s
ORDER BY start_s
"""  # noqa: S608 (texts of this program's)


def phases_of(log: OpenLog) -> tuple[RunPhase, ...]:
    """The phases of each segment, in order."""
    return tuple(RunPhase(*row) for row in log.execute(PHASES).fetchall())


def in_words(phases: Iterable[RunPhase]) -> str:
    """The lengths of the phases: `warm-up 5.0 s, window 60.0 s, drain 942 ms`."""
    return ", ".join(f"{phase.name} {seconds(phase.end_s - phase.start_s)}" for phase in phases)


@dataclass(frozen=True, slots=True)
class PlotMarks:
    """The marks of plots."""

    lines: Mapping[str, tuple[TargetLine, ...]] = field(default_factory=dict)
    phases: tuple[RunPhase, ...] = ()


def marks_of(log: OpenLog) -> PlotMarks:
    """The marks of a run: phases, and the bounds of the rules in the log."""
    targets = targets_of(logged_settings(log))
    return PlotMarks(lines_of((target, described(target)) for target in targets), phases_of(log))
