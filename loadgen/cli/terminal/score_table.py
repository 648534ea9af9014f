"""The scores of the runs of a series as a table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from loadgen.cli.terminal.axes import axis_cells, axis_columns
from loadgen.sessions.series.scores import scores_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import RenderableType

    from loadgen.sessions.series_outcome import PointOutcome


def lines(outcomes: Sequence[PointOutcome], axes: Sequence[str], *, width: int) -> list[RenderableType]:
    """A table of all scores, a row each; nothing where no run has any."""
    from rich.text import Text

    from reporter.render.accuracy import ends_in_words, value_in_words
    from reporter.render.page import Column, grid

    scored = [(outcome, score) for outcome in outcomes for score in scores_of(outcome.report)]
    if not scored:
        return []
    unscored = any(score.unscored for _, score in scored)
    columns = [
        *axis_columns(axes),
        Column("scored by", justify="left", folds=True, least=12),
        Column("score"),
        Column("95 % interval", 1),
        Column("n"),
        *([Column("unscored", 2)] if unscored else []),
    ]
    cells = []
    for outcome, score in scored:
        ends = ""
        if score.low is not None and score.high is not None:
            ends = ends_in_words(score.low, score.high, score.unit)
        least = ">= " if score.unscored and score.value is not None else ""
        cells.append(
            [
                *axis_cells(outcome, axes),
                Text(score.name),
                Text(least + value_in_words(score.value, score.unit)),
                Text(ends),
                Text(f"{score.n:,}"),
                *([Text(f"{score.unscored:,}")] if unscored else []),
            ]
        )
    return [grid(columns, cells, width=width)]
