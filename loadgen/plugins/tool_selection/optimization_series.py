"""An optimization as a series of runs: what `loadgen resume`, `loadgen report` and pages call."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from loadgen.plugins.tool_selection.command import resume_optimization as resume
from loadgen.plugins.tool_selection.optimization.run_optimization import optimization_outcome
from loadgen.plugins.tool_selection.optimization_table import table

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from loadgen.sessions.files.series_file import Series
    from loadgen.sessions.series_outcome import PointOutcome

__all__ = ["conclusions", "resume", "shown"]


def shown(
    folder: Path, series: Series, outcomes: Sequence[PointOutcome], *, width: int, color: bool = False
) -> tuple[str, Mapping[str, Any]]:
    """The final output of the command, as text and as JSON."""
    outcome = optimization_outcome(folder, series, outcomes)
    return table(outcome, width=width, color=color), outcome.to_dict()


def conclusions(folder: Path, series: Series, outcomes: Sequence[PointOutcome]) -> list[str]:
    """One sentence per variant that has ended."""
    return [variant.message for variant in optimization_outcome(folder, series, outcomes).variants]
