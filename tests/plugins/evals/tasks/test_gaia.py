"""GAIA: a final answer is compared as a number, a list or a text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from loadgen.plugins.evals.tasks.gaia import WORKLOAD, final_answer, grade, grade_whole, is_right
from workloads.answer import Answer
from workloads.errors import ColumnError, SourceError, TaskError
from workloads.score import Status

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from workloads.question import Question

ROW: dict[str, Any] = {
    "task_id": "c61d",
    "Question": "How many?",
    "Level": "1",
    "Final answer": "17",
    "file_name": "",
    "Annotator Metadata": {},
}


@pytest.mark.parametrize(
    ("message", "wanted", "right"),
    [
        ("$1,234.0", "1234", True),
        ("50%", "50", True),
        ("17 apples", "17", False),
        ("", "17", False),
        ("many", "inf", True),
        ("Sea Gull", "seagull", True),
        ("St. Petersburg!", "St Petersburg", True),
        ("the gull", "gull", False),
        ("a, B;3", "A,b, 3.0", True),
        ("a,b,3%", "a,b,3", True),
        ("a,b", "b,a", False),
        ("a", "a,b", False),
        ("a.,b", "a,b", False),
        ("1,2", "12", True),
        ("12", "1,2", False),
        ("nan", "nan", False),
    ],
)
def test_comparison(message: str, wanted: str, *, right: bool) -> None:
    """What the right answer is decides how both are read; punctuation counts in lists alone."""
    assert is_right(message, wanted) is right


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("I think.\nFINAL ANSWER: 17", "17"),
        ("FINAL ANSWER: 16\nNo: FINAL ANSWER: 17\nBye.", "17"),
        ("FINAL ANSWER:\n\n  17\r\n", "17"),
        ("FINAL ANSWER:", ""),
        ("Final answer: 17", None),
        ("17", None),
        ("", None),
    ],
)
def test_final_answer(text: str, answer: str | None) -> None:
    """It is what follows the last marker, up to the end of a line that says something."""
    assert final_answer(text) == answer


def test_scores() -> None:
    """Without the marker there is no answer, unless all that was said is taken for it."""
    reference = {"answer": "17"}
    assert grade(reference, Answer("So: FINAL ANSWER: 17")).value == 1
    assert grade(reference, Answer("FINAL ANSWER: 18")).reason == "another answer"
    assert grade(reference, Answer("17")).status is Status.UNPARSED
    assert grade_whole(reference, Answer("17")).value == 1
    assert grade_whole(reference, Answer("FINAL ANSWER: 17")).value == 0


def test_questions(loaded: Callable[..., Sequence[Question]], figures: Callable[..., dict[str, Any]]) -> None:
    """The system prompt asks for the marker; levels and files are distinguished."""
    rows = [ROW, {**ROW, "task_id": "d", "Level": 3, "file_name": "d.xlsx", "Final answer": 5}]
    first, second = loaded("gaia", "validation.jsonl", rows)
    assert first.sample.system is not None
    assert "FINAL ANSWER: [YOUR FINAL ANSWER]. YOUR FINAL ANSWER should be a number" in first.sample.system
    assert second.sample.tags == {"level": "3", "file": "yes"}
    assert second.reference == {"answer": "5"}
    score = grade(first.reference, Answer("FINAL ANSWER: 17"))
    result = figures(WORKLOAD.scorers[0], [(first, score), (second, None)])
    assert result == {"accuracy": 0.5, "level_1": 1, "level_2": None, "level_3": 0}
    assert [item.id for item in loaded("gaia:level=3", "validation.jsonl", rows)] == ["d"]


@pytest.mark.parametrize(
    ("task", "change", "error", "message"),
    [
        ("gaia", {"Final answer": "?"}, ColumnError, "line 1: no answer is published for this row"),
        ("gaia", {"Level": "easy"}, ColumnError, "column 'Level'"),
        ("gaia:level=4", {}, TaskError, r"gaia:level=4: must be one of \(1, 2, 3\), or 0"),
        ("gaia:mode=agents", {}, TaskError, "gaia:mode=agents: must be one of .*; did you mean 'agent'"),
        ("gaia:mode=agent", {"file_name": "d.xlsx"}, SourceError, "gaia: no file 'd.xlsx'"),
    ],
)
def test_bad_input(
    loaded: Callable[..., Sequence[Question]],
    task: str,
    change: dict[str, Any],
    error: type[Exception],
    message: str,
) -> None:
    """The answers of the test part are not published: nothing could be scored."""
    with pytest.raises(error, match=message):
        loaded(task, "validation.jsonl", [{**ROW, **change}])
