"""What came of a point."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from loadgen.sessions.gating.outcome import gravest as gravest_code
from rulesets.exit_codes import ExitCode

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from loadgen.sessions.series.series import SeriesPoint
    from reporter.report import Report

UNFINISHED: Final = frozenset({"interrupted", "cut_off"})
"""How a run has ended that is run anew when its series is gone on with. Any other end is a result."""


@dataclass(frozen=True, slots=True)
class PointOutcome:
    """A point that has been run.

    Attributes:
        number: Its place in the series, from 0.
        point: What was run.
        folder: Where its log is.
        report: What it amounts to, the verdict included.
        exit_code: What `loadgen perf` would have ended with.
    """

    number: int
    point: SeriesPoint
    folder: Path
    report: Report
    exit_code: int


@dataclass(frozen=True, slots=True)
class SeriesResult:
    """A series that is over, or was interrupted.

    Attributes:
        outcomes: One a point that has been run to its end, in their order.
        interrupted: Whether somebody ended it.
    """

    outcomes: tuple[PointOutcome, ...]
    interrupted: bool

    @property
    def exit_code(self) -> int:
        """130 when it was interrupted; else that of the gravest point."""
        if self.interrupted:
            return ExitCode.INTERRUPTED
        return gravest(self.outcomes)


def gravest(outcomes: Sequence[PointOutcome]) -> int:
    """The exit code of several points together: 4 over 1 over 5 over 0."""
    return gravest_code(outcome.exit_code for outcome in outcomes)
