"""A search for the terminal: the trials, and the result."""

from __future__ import annotations

from typing import TYPE_CHECKING

from loadgen.sessions.series.run_notes import accepted_note, warning_notes
from reporter.render.console_page import draw, tables, text
from reporter.render.table import Column, Table

if TYPE_CHECKING:
    from loadgen.sessions.series.search.search_result import SearchOutcome
    from loadgen.sessions.series.search.trials import EvaluatedTrial


def table(result: SearchOutcome, *, width: int, color: bool = False) -> str:
    """Every trial in a row, and the result in a sentence."""
    columns = (
        Column(result.axis),
        Column("trial", justify="left"),
        Column("seconds", 2),
        Column("requests", 1),
        Column("req/s", 3),
        Column("verdict", justify="left", folds=True),
    )
    rows = tuple(map(_cells, result.evaluated))
    trials = tables(Table(columns, rows), width=width) if rows else []
    outcomes = [trial.outcome for trial in result.evaluated]
    notes = [note for outcome in outcomes for note in accepted_note(outcome)]
    shown = [text(note) for note in (*notes, *warning_notes(outcomes))]
    return draw([trials, [text(result.message)], shown], width=width, color=color)


def _cells(evaluated: EvaluatedTrial) -> tuple[str, ...]:
    report, trial = evaluated.outcome.report, evaluated.tried.trial
    return (
        f"{trial.load:g}",
        "full" if trial.thorough else "scout",
        f"{report.window.duration_s or 0.0:.1f}",
        f"{report.counts.issued:,}",
        f"{report.throughput.qps or 0.0:,.2f}",
        evaluated.in_words,
    )
