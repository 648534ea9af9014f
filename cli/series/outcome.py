"""What came of a point."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from cli.errors import INTERRUPTED
from cli.gating.outcome import gravest as gravest_code
from cli.series.series import Series, folder_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from cli.series.series import Point
    from reporter.report import Report

UNFINISHED: Final = frozenset({"interrupted", "cut_off"})
"""How a run has ended that is run anew when its series is gone on with. Any other end is a result."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """A point that has been run.

    Attributes:
        number: Its place in the series, from 0.
        point: What was run.
        folder: Where its log is.
        report: What it amounts to, the verdict included.
        exit_code: What `loadgen perf` would have ended with.
    """

    number: int
    point: Point
    folder: Path
    report: Report
    exit_code: int


@dataclass(frozen=True, slots=True)
class Ended:
    """A series that is over, or was interrupted.

    Attributes:
        outcomes: One a point that has been run to its end, in their order.
        interrupted: Whether somebody ended it.
    """

    outcomes: tuple[Outcome, ...]
    interrupted: bool

    @property
    def exit_code(self) -> int:
        """130 when it was interrupted; else that of the gravest point."""
        if self.interrupted:
            return INTERRUPTED
        return gravest(self.outcomes)


def gravest(outcomes: Sequence[Outcome]) -> int:
    """The exit code of several points together: 4 over 1 over 5 over 0."""
    return gravest_code(outcome.exit_code for outcome in outcomes)


def outcome_of(folder: Path, series: Series, number: int) -> Outcome | None:
    """What came of a point, from its report or its log; None for one that has not been run to its end.

    Raises:
        BeingWrittenError: It is running now.
    """
    from cli.judging import write_report
    from cli.perf import outcome
    from cli.run_folder import still_running
    from cli.series.kept_report import kept_report
    from recorder.errors import LogError
    from recorder.store import LOG_NAME

    place = folder_of(folder, series, number)
    if not (place / LOG_NAME).exists():
        return None
    try:
        report = kept_report(place) or write_report(place, None)
    except LogError:
        return None
    if report.run["ended"] == "running":
        raise still_running(place)
    if report.run["ended"] in UNFINISHED:
        return None
    point = series.points[number]
    return Outcome(number, point, place, report, outcome(report, point.options.get("inconclusive", "5")))
