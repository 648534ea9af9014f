"""AlpacaEval: 29 models' pairwise preferences and the leaderboard that was computed from them.

A preference is from 1 (the baseline's answer) to 2 (the model's): a win rate is the mean of what is above 1.
The expressions are those of the headlines of pairwise tasks, over the same rows.
"""

from __future__ import annotations

import csv
import gzip
import json
import math
from typing import TYPE_CHECKING, Final

import duckdb

from loadgen.plugins.evals.grading.pairwise import DISCRETE_WIN_RATE, WIN_RATE, WIN_RATE_ERROR
from tests.conformance.agreement import Agreement

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

NEEDS: Final = ("alpaca_eval/preferences.jsonl.gz", "alpaca_eval/leaderboard.csv.gz")

_COLUMNS: Final = {
    "win_rate": WIN_RATE.sql,
    "standard_error": WIN_RATE_ERROR.sql,
    "discrete_win_rate": DISCRETE_WIN_RATE.sql,
}
_SHORTCUTS: Final = {
    "a tie is a win": ("discrete_win_rate", "avg((value >= .5)::DOUBLE)"),
    "a tie is a loss": ("discrete_win_rate", "avg((value > .5)::DOUBLE)"),
    "the win rate counts wins": ("win_rate", "avg((value > .5)::DOUBLE)"),
    "the deviation of the population": ("standard_error", "stddev_pop(value) / sqrt(count(value))"),
}


def agreements(data: Path) -> Iterator[Agreement]:
    """One line a column of the leaderboard, and one a shortcut."""
    with gzip.open(data / NEEDS[1], "rt", encoding="utf-8", newline="") as file:
        board = {row[""]: row for row in csv.DictReader(file)}
    with gzip.open(data / NEEDS[0], "rt", encoding="utf-8") as lines:
        preferences = {row["model"]: row["preference"] for row in map(json.loads, lines)}
    for column, sql in _COLUMNS.items():
        yield _compared(board, preferences, column, sql, f"pairwise/{column}, alpaca_eval leaderboard")
    for name, (column, sql) in _SHORTCUTS.items():
        yield _compared(board, preferences, column, sql, f"pairwise: {name}", shortcut=True)


def _compared(
    board: Mapping[str, Mapping[str, str]],
    preferences: Mapping[str, list[float]],
    column: str,
    sql: str,
    title: str,
    *,
    shortcut: bool = False,
) -> Agreement:
    connection = duckdb.connect()
    wrong = []
    for model, values in preferences.items():
        query = f"SELECT 100 * ({sql}) FROM (SELECT unnest(?::DOUBLE[]) - 1 AS value)"  # noqa: S608 (our own)
        (ours,) = connection.execute(query, [values]).fetchone() or (math.nan,)
        theirs = float(board[model][column])
        if not math.isclose(ours, theirs, rel_tol=1e-6):
            wrong.append(f"{model}: ours {ours}, theirs {theirs}")
    return Agreement(title, len(preferences), len(preferences) - len(wrong), {}, tuple(wrong), shortcut)
