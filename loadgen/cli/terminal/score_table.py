"""The scores of the runs of a series as a table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from loadgen.cli.terminal.axes import axis_cells, axis_columns
from loadgen.sessions.series.headline_scores import scores_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import RenderableType

    from loadgen.sessions.series_outcome import PointOutcome


def lines(outcomes: Sequence[PointOutcome], axes: Sequence[str], *, width: int) -> list[RenderableType]:
    """A table of all scores, a row each; nothing where no run has any."""
    from reporter.render.console_page import tables
    from reporter.render.score_tables import ends_in_words, value_in_words
    from reporter.render.table import Column, Table

    scored = [(outcome, score) for outcome in outcomes for score in scores_of(outcome.report)]
    if not scored:
        return []
    unscored = any(score.unscored for _, score in scored)
    columns = (
        *axis_columns(axes),
        Column("scored by", justify="left", folds=True, least=12),
        Column("score"),
        Column("95 % interval", 1),
        Column("n"),
        *([Column("unscored", 2)] if unscored else []),
    )
    rows = []
    for outcome, score in scored:
        ends = ""
        if score.low is not None and score.high is not None:
            ends = ends_in_words(score.low, score.high, score.unit)
        least = ">= " if score.unscored and score.value is not None else ""
        rows.append(
            (
                *axis_cells(outcome, axes),
                score.name,
                least + value_in_words(score.value, score.unit),
                ends,
                f"{score.n:,}",
                *([f"{score.unscored:,}"] if unscored else []),
            )
        )
    return tables(Table(columns, tuple(rows)), width=width)
