"""A suite on the terminal: the tables, how many runs are done, and the requirements."""

from __future__ import annotations

from typing import TYPE_CHECKING

from loadgen.cli.terminal.series_table import table
from loadgen.cli.terminal.show import page
from loadgen.sessions.errors import printable
from loadgen.sessions.series.suite.summary import sentence

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from loadgen.sessions.files.series_file import Series
    from loadgen.sessions.series_outcome import PointOutcome


def as_text(folder: Path, series: Series, outcomes: Sequence[PointOutcome], *, compact: bool = False) -> str:
    """The tables, how many runs are done, and whether the requirements are met."""
    shown = [table(outcomes, compact=compact, **page()) + "\n"] if outcomes else []
    done = f"{len(outcomes)} of {len(series.points)} runs are done, in {printable(str(folder))}\n"
    requirements = sentence(outcomes)
    return "".join([*shown, done, f"{requirements}\n" if requirements else ""])
