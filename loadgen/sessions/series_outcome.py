"""The outcome of a point."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from lazy_dataclasses import dataclass
from loadgen.sessions.settings.verdict_options import most_severe as most_severe_code
from rulesets.exit_codes import ExitCode

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from loadgen.sessions.files.series_file import SeriesPoint
    from reporter.report import Report

UNFINISHED: Final = frozenset({"interrupted", "cut_off"})
"""The ends of a run that is repeated when its series is resumed. Any other end is a result."""


@dataclass(frozen=True, slots=True)
class PointOutcome:
    """A point that has been run."""

    number: int
    point: SeriesPoint
    folder: Path
    report: Report
    exit_code: int


@dataclass(frozen=True, slots=True)
class SeriesResult:
    """A series that has ended, or was interrupted."""

    outcomes: tuple[PointOutcome, ...]
    interrupted: bool

    @property
    def exit_code(self) -> int:
        """130 after an interrupt; else the most severe exit code of the points."""
        if self.interrupted:
            return ExitCode.INTERRUPTED
        return most_severe(self.outcomes)


def most_severe(outcomes: Sequence[PointOutcome]) -> int:
    """The exit code of several points together: 4 over 1 over 5 over 0."""
    return most_severe_code(outcome.exit_code for outcome in outcomes)
