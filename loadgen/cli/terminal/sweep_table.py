"""A sweep on the terminal: the runs, the Pareto fronts and the knees."""

from __future__ import annotations

from typing import TYPE_CHECKING

from loadgen.cli.terminal.series_table import table
from loadgen.cli.terminal.show import page
from loadgen.sessions.errors import printable
from loadgen.sessions.series.sweep.fronts import conclusions

if TYPE_CHECKING:
    from collections.abc import Sequence

    from loadgen.sessions.series_outcome import PointOutcome


def as_text(outcomes: Sequence[PointOutcome]) -> str:
    """The table, both fronts and the knees."""
    from rich.text import Text

    from reporter.render.console_page import draw

    shown = page()
    lines = [Text(printable(line)) for line in conclusions(outcomes)]
    return table(outcomes, **shown) + "\n" + draw([lines], **shown)
