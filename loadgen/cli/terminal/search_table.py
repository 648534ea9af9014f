"""A search on the console: what was tried, and the result."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text

from loadgen.cli.terminal.series_table import accepted_note
from reporter.render.page import Column, draw, grid, text

if TYPE_CHECKING:
    from loadgen.sessions.series.search.result import SearchOutcome
    from loadgen.sessions.series.search.trials import EvaluatedTrial


def table(found: SearchOutcome, *, width: int, color: bool = False) -> str:
    """Every trial in a row, and the result in a sentence."""
    columns = [
        Column(found.axis),
        Column("trial", justify="left"),
        Column("seconds", 2),
        Column("requests", 1),
        Column("req/s", 3),
        Column("verdict", justify="left", folds=True),
    ]
    trials = [grid(columns, [_cells(one) for one in found.judged], width=width)] if found.judged else []
    notes = [text(note) for one in found.judged for note in accepted_note(one.outcome)]
    return draw([trials, [text(found.message)], notes], width=width, color=color)


def _cells(one: EvaluatedTrial) -> list[Text]:
    report, trial = one.outcome.report, one.tried.trial
    return [
        Text(f"{trial.load:g}"),
        Text("full" if trial.thorough else "scout"),
        Text(f"{report.window.duration_s or 0.0:.1f}"),
        Text(f"{report.counts.issued:,}"),
        Text(f"{report.throughput.qps or 0.0:,.2f}"),
        text(one.in_words),
    ]
