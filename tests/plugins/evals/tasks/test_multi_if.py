"""Multi-IF: conversations of rows, the rules of other languages, and the figures of turns and languages."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from loadgen.plugins.evals.grading.instructions import follows
from loadgen.plugins.evals.grading.multilingual import MULTILINGUAL, sentence_count, word_count
from loadgen.plugins.evals.tasks.multi_if import WORKLOAD, grade
from workloads.answer import Answer
from workloads.errors import ColumnError
from workloads.score import Status

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from workloads.question import Question
    from workloads.score import Score
    from workloads.scorer import Scorer

COMMA = "punctuation:no_comma"
QUOTES = "startend:quotation"
END = "startend:end_checker"


def row(key: str, language: str, *turns: Sequence[str], end: str = "bye") -> dict[str, Any]:
    """A conversation as the dataset has it: cells are JSON text."""
    cells: dict[str, Any] = {"key": key, "language": language}
    for number in (1, 2, 3):
        names = turns[number - 1] if number <= len(turns) else None
        message = json.dumps({"role": "user", "content": f"turn {number}"})
        options = [json.dumps({"end_phrase": end} if name == END else {}) for name in names or ()]
        cells[f"turn_{number}_prompt"] = "None" if names is None else message
        cells[f"turn_{number}_instruction_id_list"] = json.dumps(list(names or ()))
        cells[f"turn_{number}_kwargs"] = json.dumps(options)
    return cells


ROWS = [
    row("1", "English", [COMMA], [COMMA, QUOTES], [COMMA, QUOTES, END]),
    row("1", "French", [COMMA], [COMMA, QUOTES]),
]


@pytest.fixture
def conversations(loaded: Callable[..., Sequence[Question]]) -> Sequence[Question]:
    """Two, of three turns and of two."""
    return loaded("multi_if", "multi_if.jsonl", ROWS)


def test_turns_of_a_row(conversations: Sequence[Question]) -> None:
    """A turn that is not there is left out; rows of one key have their own ids."""
    first, second = conversations
    assert (first.id, second.id) == ("1", "1#2")
    assert first.sample.prompt == "turn 1"
    assert [follow.messages[0]["content"] for follow in first.sample.follow_ups] == ["turn 2", "turn 3"]
    assert len(second.sample.follow_ups) == 1
    assert second.sample.tags == {"language": "French", "instructions_1": "1", "instructions_2": "2"}


@pytest.mark.slow
def test_figures(
    conversations: Sequence[Question],
    figures: Callable[[Scorer, Sequence[tuple[Question, Score | None]]], dict[str, Any]],
) -> None:
    """Of each turn the mean of four figures; over languages their mean; what is missing counts as wrong."""
    first, second = conversations
    score = grade(first.reference, Answer('"no bye', earlier=("no", "“no”")))
    # A turn with two of three instructions: neither prompt, and 2/3 of the instructions, also loosely.
    third = (0 + 0 + 2 / 3 + 2 / 3) / 4
    assert score.value == pytest.approx((1 + 1 + third) / 3)
    assert score.reason == "not followed: turn 3: startend:quotation"
    half = grade(second.reference, Answer("plain", earlier=("a, b",)))
    (scorer,) = WORKLOAD.scorers
    result = figures(scorer, [(first, score), (second, half)])
    assert result["turn_1"] == pytest.approx((1 + 0) / 2)
    assert result["turn_2"] == pytest.approx((1 + (0 + 0 + 1 / 2 + 1 / 2) / 4) / 2)
    assert result["turn_3"] == result["turn_3_english"] == pytest.approx(third)
    assert result["turn_3_french"] is None
    assert result["score"] == pytest.approx((result["turn_1"] + result["turn_2"] + third) / 3)
    assert result["turn_2_all_languages"] == pytest.approx((1 / 2 + 3 / 4 + 1 / 2 + 3 / 4) / 4)
    assert result["all_turns_strict"] == 0
    nothing = figures(scorer, [(first, score), (second, None)])
    assert (nothing["turn_1_french"], nothing["turn_1"]) == (0, 0.5)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "sentences", "words"),
    [
        ("今天天气很好。我们去公园吧！你来吗?", 3, 15),  # noqa: RUF001 (marks of Chinese)
        ("मैं घर जा रहा हूँ। तुम कहाँ हो? ठीक है!", 3, None),
        ("สวัสดีครับ ผมชื่อจอห์น วันนี้อากาศดีมาก\nขอบคุณมากครับ", 3, 14),
    ],
    ids=["zh", "hi", "th"],
)
def test_other_languages(text: str, sentences: int, words: int | None) -> None:
    """Sentences and words are those of the language of the answer."""
    pytest.importorskip("langdetect")
    pytest.importorskip("pythainlp")
    pytest.importorskip("emoji")
    assert sentence_count(text) == sentences
    assert words is None or word_count(text) == words


def test_quotation_marks() -> None:
    """Those of Chinese and Japanese count as well, in pairs."""
    check = follows(QUOTES, {}, instructions=MULTILINGUAL)
    assert [check(text) for text in ('"a"', "“a”", "「a」", '“a"', "「a”", '"')] == [True] * 3 + [False] * 3


def test_an_instruction_that_cannot_be_checked(loaded: Callable[..., Sequence[Question]]) -> None:
    """It has no verdict, and neither has its conversation."""
    (question,) = loaded("multi_if", "multi_if.jsonl", [row("1", "English", [END], end="")])
    score = grade(question.reference, Answer("bye"))
    assert score.status is Status.INFRA_ERROR
    assert "end_phrase" in (score.reason or "")


@pytest.mark.parametrize(
    ("cells", "message"),
    [
        ({"turn_1_prompt": "{"}, "not JSON"),
        ({"turn_1_prompt": "[]"}, "a message should be there"),
        ({"turn_1_kwargs": "[]"}, "lists of one length"),
        (dict.fromkeys(("turn_1_prompt", "turn_2_prompt", "turn_3_prompt"), "None"), "no turn"),
    ],
)
def test_rows_that_are_not(
    loaded: Callable[..., Sequence[Question]], cells: dict[str, Any], message: str, tmp_path: Path
) -> None:
    """They are named with their place."""
    del tmp_path
    with pytest.raises(ColumnError, match=message):
        loaded("multi_if", "multi_if.jsonl", [{**ROWS[0], **cells}])
