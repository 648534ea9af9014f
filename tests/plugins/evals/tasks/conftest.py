"""What tests of tasks have in common: questions of rows, and the figures of a run."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import duckdb
import pytest

from workloads.question_loading import load
from workloads.task import parse

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from workloads.question import Question
    from workloads.score import Score
    from workloads.scorer import Scorer


@pytest.fixture
def loaded(tmp_path: Path) -> Callable[[str, str, Sequence[dict[str, Any]]], Sequence[Question]]:
    """Loads the questions of a task from rows, which it writes to a file of that name."""

    def load_rows(task: str, name: str, rows: Sequence[dict[str, Any]]) -> Sequence[Question]:
        lines = [json.dumps(row) for row in rows]
        (tmp_path / name).write_text("\n".join(lines), encoding="utf-8")
        return load(parse(task), tmp_path).questions

    return load_rows


@pytest.fixture
def figures() -> Callable[[Scorer, Sequence[tuple[Question, Score | None]]], dict[str, Any]]:
    """Computes the headlines of a scorer over questions with their scores; None stands for no answer."""

    def compute(scorer: Scorer, graded: Sequence[tuple[Question, Score | None]]) -> dict[str, Any]:
        connection = duckdb.connect()
        connection.execute(
            "CREATE TABLE scores (value DOUBLE, metrics MAP(VARCHAR, DOUBLE), tags MAP(VARCHAR, VARCHAR), "
            "status VARCHAR)"
        )
        for question, score in graded:
            tags = question.sample.tags
            metrics = {} if score is None else score.metrics
            row = [0.0 if score is None else score.value, list(metrics), list(metrics.values())]
            connection.execute(
                "INSERT INTO scores VALUES (?, map(?::VARCHAR[], ?::DOUBLE[]), map(?::VARCHAR[], ?), ?)",
                [*row, list(tags), list(tags.values()), "missing" if score is None else score.status],
            )
        columns = ", ".join(f'{headline.sql} AS "{headline.name}"' for headline in scorer.headlines)
        names = [headline.name for headline in scorer.headlines]
        result = connection.execute(f"SELECT {columns} FROM scores").fetchone()  # noqa: S608 (SQL of the scorer)
        return dict(zip(names, result or (), strict=True))

    return compute
