"""The marks of the plots of one run: phases on time axes, and bounds of rules."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from reporter.live.targets_now import targets_of
from reporter.log.run_head import logged_settings
from reporter.plots.phases import phases_of
from reporter.plots.target_lines import lines_of
from rulesets.expression import described

if TYPE_CHECKING:
    from collections.abc import Mapping

    from reporter.log.database import OpenLog
    from reporter.plots.phases import RunPhase
    from reporter.plots.target_lines import TargetLine


@dataclass(frozen=True, slots=True)
class PlotMarks:
    """The marks of plots.

    Attributes:
        lines: The bounds of rules, by the name of the plot.
        phases: Warm-up, measured window and drain.
    """

    lines: Mapping[str, tuple[TargetLine, ...]] = field(default_factory=dict)
    phases: tuple[RunPhase, ...] = ()


def marks_of(log: OpenLog) -> PlotMarks:
    """The marks of a run: phases, and the bounds of the rules in the log."""
    targets = targets_of(logged_settings(log))
    return PlotMarks(lines_of((target, described(target)) for target in targets), phases_of(log))
