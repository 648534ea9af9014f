"""IFEval: an answer is compared with its instructions, strictly and loosely."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from loadgen.plugins.evals.tasks.ifeval import WORKLOAD, grade, grade_random, variants, verdicts
from workloads.answer import Answer
from workloads.errors import ColumnError, TaskError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from workloads.question import Question

QUOTED = {"instruction_id_list": ["startend:quotation"], "kwargs": [{}]}
HASHES = {
    "instruction_id_list": ["keywords:letter_frequency", "punctuation:no_comma"],
    "kwargs": [{"letter": "#", "let_frequency": 1, "let_relation": "at least"}, {}],
}

ROWS: list[dict[str, Any]] = [
    {
        "key": 7,
        "prompt": "Say a cat in capitals.",
        "instruction_id_list": ["keywords:existence", "punctuation:no_comma"],
        "kwargs": [{"keywords": ["cat"], "num_words": None}, {"keywords": None}],
    },
    {"key": 8, "prompt": "Say it.", "instruction_id_list": ["punctuation:no_comma"], "kwargs": [None]},
]


def test_variants() -> None:
    """The loose figures look at the answer without its first line, its last one, both, and asterisks."""
    assert variants("a\n*b*\nc") == [
        *("a\n*b*\nc", "a\nb\nc", "*b*\nc", "a\n*b*", "*b*", "b\nc", "a\nb", "b"),
    ]
    assert variants("x") == ["x", ""]


@pytest.mark.parametrize(
    ("text", "strict", "loose"),
    [
        ('"a"', True, True),
        ('Here:\n"a"', False, True),
        ('Here:\n*"a"*\nSo.', False, True),
        ("", False, False),
        (" \n ", False, False),
        ("a\r\nb", False, False),
    ],
)
def test_strict_and_loose(text: str, *, strict: bool, loose: bool) -> None:
    """One variant that follows is enough for the loose figures; an empty one follows nothing."""
    result = verdicts(QUOTED, text)
    assert (result.strict, result.loose) == ([strict], [loose])


def test_an_empty_variant_follows_nothing() -> None:
    """Nothing is left of one line without its first: that nothing has no comma is not a merit."""
    no_comma = {"instruction_id_list": ["punctuation:no_comma"], "kwargs": [{}]}
    assert verdicts(no_comma, "a, b").loose == [False]
    assert verdicts(no_comma, "a, b\nc").loose == [True]


def test_score() -> None:
    """The score says what was followed, of all and of each kind, and what was not."""
    score = grade(HASHES, Answer("a, b"))
    assert (score.value, score.extracted) == (0.0, "0 of 2, loosely 0")
    assert score.reason == "not followed: keywords:letter_frequency, punctuation:no_comma"
    assert score.metrics == {"prompt_loose": 0, "strict": 0, "loose": 0}
    score = grade(HASHES, Answer("a, #\n#"))
    assert (score.value, score.metrics["prompt_loose"], score.metrics["strict"]) == (0.0, 1.0, 1.0)
    assert score.metrics["loose:punctuation:no_comma"] == score.metrics["loose:punctuation:"] == 1
    assert grade(HASHES, Answer("#")).reason == ""


def test_questions(loaded: Callable[..., Sequence[Question]]) -> None:
    """What is null is not an argument; the log can tell the score of an answer from the reference alone."""
    first, second = loaded("ifeval", "input_data.jsonl", ROWS)
    assert (first.id, first.sample.prompt) == ("7", "Say a cat in capitals.")
    assert first.reference["kwargs"] == [{"keywords": ["cat"]}, {}]
    stored = json.loads(json.dumps(first.reference))
    assert grade(stored, Answer("a CAT")).value == 1
    assert second.reference["kwargs"] == [{}]
    assert first.sample.tags == {"instructions": "keywords:existence punctuation:no_comma"}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"instruction_id_list": ["keywords:exist"]}, "did you mean 'keywords:existence'"),
        ({"instruction_id_list": []}, "lists of one length"),
        ({"kwargs": [{"words": 1}]}, "line 1: punctuation:no_comma: no argument 'words'"),
        ({"kwargs": "x"}, "lists of one length"),
        ({"prompt": 3}, "column 'prompt'"),
    ],
)
def test_a_bad_row(loaded: Callable[..., Sequence[Question]], change: dict[str, Any], message: str) -> None:
    """An unknown instruction, or one with other arguments, is an error with its place, not one unfollowed."""
    with pytest.raises(ColumnError, match=message):
        loaded("ifeval", "input_data.jsonl", [{**ROWS[1], **change}])


def test_an_unknown_instruction_of_a_log() -> None:
    """Nor is it a score of 0 where a log has it."""
    with pytest.raises(TaskError, match="no instruction 'a:b'"):
        grade({"instruction_id_list": ["a:b"], "kwargs": [{}]}, Answer("x"))


def test_headlines(loaded: Callable[..., Sequence[Question]], figures: Callable[..., dict[str, Any]]) -> None:
    """Prompts and instructions count over all that were asked, those without an answer included."""
    first, second = loaded("ifeval", "input_data.jsonl", ROWS)
    graded = [
        (first, grade(first.reference, Answer("a cat, yes"))),
        (second, grade(second.reference, Answer("So, here:\nno"))),
        (second, None),
        (second, grade(second.reference, Answer("no"))),
    ]
    result = figures(WORKLOAD.scorers[0], graded)
    assert result["prompt_strict"] == 1 / 4
    assert result["inst_strict"] == 2 / 5
    assert result["prompt_loose"] == 2 / 4
    assert result["inst_loose"] == 3 / 5
    assert (result["strict_keywords"], result["strict_keywords_existence"]) == (1, 1)
    assert (result["strict_punctuation"], result["loose_punctuation_no_comma"]) == (1 / 4, 2 / 4)
    assert result["strict_language"] is None, "nothing of that kind was asked"


def test_the_official_chance(figures: Callable[..., dict[str, Any]], loaded: Callable[..., Any]) -> None:
    """Ten draws tell the lowest and the highest; the same answer has the same score again."""
    row = {**ROWS[0], **HASHES}
    (question,) = loaded("ifeval", "input_data.jsonl", [row])
    answers = [Answer(text) for text in ("abcdefghijklm", "#", "abcdefghijklmnopqrstuvwxyz")]
    scores = [grade_random(HASHES, answer) for answer in answers]
    assert scores == [grade_random(HASHES, answer) for answer in answers]
    spread = [
        (drawn.metrics["prompt_strict_lowest"], drawn.metrics["prompt_strict_highest"]) for drawn in scores
    ]
    assert spread == [(0, 1), (0, 0), (1, 1)]
    result = figures(WORKLOAD.scorers[1], [(question, score) for score in scores])
    assert (result["prompt_strict_lowest"], result["prompt_strict_highest"]) == (1 / 3, 2 / 3)
    assert grade_random(QUOTED, Answer('"a"')) != grade(QUOTED, Answer('"a"')), "it says its spread"
    assert grade_random(QUOTED, Answer('"a"')).value == 1


def test_sentences_take_a_model(loaded: Callable[..., Sequence[Question]], punkt_folder: Path) -> None:
    """Sentences are counted by punkt's model, which `--data` may have."""
    assert punkt_folder.is_dir()
    row = {
        **ROWS[1],
        "instruction_id_list": ["length_constraints:number_sentences"],
        "kwargs": [{"num_sentences": 2, "relation": "less than"}],
    }
    (question,) = loaded("ifeval", "input_data.jsonl", [row])
    assert grade(question.reference, Answer("Dr. Smith came.")).value == 1
    assert grade(question.reference, Answer("He came. The end.")).value == 0
