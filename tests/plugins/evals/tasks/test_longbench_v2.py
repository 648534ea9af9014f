"""LongBench v2: one of four letters, in the words that were asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from loadgen.plugins.evals.tasks.longbench_v2 import WORKLOAD, choice, grade, grade_compensated
from workloads.answer import Answer
from workloads.errors import ColumnError, TaskError
from workloads.score import Status

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from workloads.question import Question

ROW: dict[str, Any] = {
    "_id": "66f3",
    "domain": "Single-Document QA",
    "sub_domain": "Academic",
    "difficulty": "easy",
    "length": "short",
    "question": " Which? ",
    "choice_A": "one",
    "choice_B": "two ",
    "choice_C": "three",
    "choice_D": "four",
    "answer": "B",
    "context": "\nA long text about {braces}.\n",
}

PROMPT = """Please read the following text and answer the question below.

<text>
A long text about {braces}.
</text>

What is the correct answer to this question: Which?
Choices:
(A) one
(B) two
(C) three
(D) four

Format your response as follows: "The correct answer is (insert answer here)"."""


@pytest.mark.parametrize(
    ("text", "letter"),
    [
        ("The correct answer is (B).", "B"),
        ("The correct answer is B", "B"),
        ("**The correct answer is (B)**", "B"),
        ("The correct answer is **(B)**", "B"),
        ("The correct answer is A? No. The correct answer is (B)", "B"),
        ("The correct answer is (B) or\nThe correct answer is (C)", "B"),
        ("The correct answer is Because", "B"),
        ("the correct answer is (B)", None),
        ("The correct answer is (E)", None),
        ("The correct answer is: B", None),
        ("B", None),
        ("", None),
    ],
)
def test_choice(text: str, letter: str | None) -> None:
    """Letters in brackets come first, then bare ones; nothing else is looked at."""
    assert choice(text) == letter


def test_scores() -> None:
    """An answer without a letter is wrong, or by the rule `compensated` a quarter right."""
    texts = ["The correct answer is (B)", "The correct answer is (A)", "B"]
    assert [grade({"answer": "B"}, Answer(text)).value for text in texts] == [1, 0, 0]
    assert [grade_compensated({"answer": "B"}, Answer(text)).value for text in texts] == [1, 0, 0.25]
    assert grade_compensated({"answer": "B"}, Answer("")).status is Status.UNPARSED


def test_questions(loaded: Callable[..., Sequence[Question]]) -> None:
    """The prompt is the official one, with everything stripped; `no_context` asks without the text."""
    (question,) = loaded("longbench_v2", "longbench.jsonl", [ROW])
    assert question.sample.prompt == PROMPT
    assert (question.id, question.reference) == ("66f3", {"answer": "B"})
    assert question.sample.tags["domain"] == "Single-Document QA"
    (bare,) = loaded("longbench_v2:no_context=true", "longbench.jsonl", [ROW])
    assert "text" not in bare.sample.prompt
    assert "(D) four\n\nWhat is the single, most likely answer choice? Format" in bare.sample.prompt


def test_a_text_with_marks(loaded: Callable[..., Sequence[Question]]) -> None:
    r"""Officially `$Q$` in a text, as in LaTeX, becomes the question: so that prompts are the same."""
    (question,) = loaded("longbench_v2", "longbench.jsonl", [{**ROW, "context": "Let $Q$ be $C_A$"}])
    assert "<text>\nLet Which? be one\n</text>" in question.sample.prompt


@pytest.mark.slow
def test_cut_in_the_middle(loaded: Callable[..., Sequence[Question]], word_tokenizer: Path) -> None:
    """A prompt of too many tokens keeps both ends: of an odd number the end has one more."""
    task = f"longbench_v2:tokenizer={word_tokenizer},max_len"
    (question,) = loaded(f"{task}=5", "longbench.jsonl", [ROW])
    assert question.sample.prompt == 'Please read (insert answer here)".'
    (whole,) = loaded(f"{task}=500", "longbench.jsonl", [ROW])
    assert whole.sample.prompt == PROMPT


def test_headlines(loaded: Callable[..., Sequence[Question]], figures: Callable[..., dict[str, Any]]) -> None:
    """Overall, and by difficulty and length; a question without an answer counts."""
    rows = [ROW, {**ROW, "_id": "b", "difficulty": "hard", "length": "long"}, {**ROW, "_id": "c"}]
    right = grade({"answer": "B"}, Answer("The correct answer is (B)"))
    questions = loaded("longbench_v2", "longbench.jsonl", rows)
    result = figures(WORKLOAD.scorers[0], list(zip(questions, [right, right, None], strict=True)))
    assert result == {
        "overall": pytest.approx(2 / 3),
        "easy": 0.5,
        "hard": 1,
        "short": 0.5,
        "medium": None,
        "long": 1,
    }


@pytest.mark.parametrize(
    ("task", "change", "error", "message"),
    [
        ("longbench_v2", {"answer": "E"}, ColumnError, "column 'answer': 'E', where one of the letters ABCD"),
        ("longbench_v2", {"context": None}, ColumnError, "column 'context': null"),
        ("longbench_v2:max_len=0", {}, TaskError, "max_len=0: must be a number of tokens, from 1 on"),
    ],
)
def test_bad_input(
    loaded: Callable[..., Sequence[Question]],
    task: str,
    change: dict[str, Any],
    error: type[Exception],
    message: str,
) -> None:
    """What is not as it should be has its place in the message."""
    with pytest.raises(error, match=message):
        loaded(task, "longbench.jsonl", [{**ROW, **change}])
