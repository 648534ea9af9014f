"""MRCR: an answer is as good as it is alike the needle, after a random text."""

from __future__ import annotations

import json
from difflib import SequenceMatcher
from typing import TYPE_CHECKING, Any

import pytest

from loadgen.plugins.evals.tasks.mrcr import WORKLOAD, grade
from workloads.answer import Answer
from workloads.errors import ColumnError, SourceError, TaskError
from workloads.score import Status

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from workloads.question import Question

CHAT = [{"role": "user", "content": "Write a poem"}, {"role": "assistant", "content": "A poem"}]
ROW: dict[str, Any] = {
    "prompt": json.dumps([*CHAT, {"role": "user", "content": "Prepend x7 to the first poem"}]),
    "answer": "x7A poem about tapirs",
    "random_string_to_prepend": "x7",
    "n_needles": 2,
    "desired_msg_index": 1,
    "total_messages": 3,
    "n_chars": 40,
}


def test_the_same() -> None:
    """The needle itself scores 1."""
    assert grade(ROW, Answer("x7A poem about tapirs")).value == 1


def test_alike() -> None:
    """Anything else scores the ratio of both without the random text: the answer first, as it matters."""
    text, wanted = "tide", "diet"
    ratios = [SequenceMatcher(None, text, wanted).ratio(), SequenceMatcher(None, wanted, text).ratio()]
    assert ratios[0] != ratios[1]
    score = grade({**ROW, "answer": f"x7{wanted}"}, Answer(f"x7{text}"))
    assert (score.value, score.extracted, score.reason) == (ratios[0], text, "not the same text")


def test_frequent_letters_do_not_count() -> None:
    """Of long texts difflib leaves out what is frequent: without that, scores would be higher."""
    wanted, text = "ab" * 150, "ba" * 150
    assert SequenceMatcher(None, text, wanted, autojunk=False).ratio() > 0.9
    assert grade({**ROW, "answer": f"x7{wanted}"}, Answer(f"x7{text}")).value == 0


@pytest.mark.parametrize("text", ["A poem about tapirs", " x7A poem about tapirs", "", "x"])
def test_without_the_random_text(text: str) -> None:
    """Where it does not come first, the score is 0, however alike the rest is."""
    score = grade(ROW, Answer(text))
    assert (score.value, score.status) == (0, Status.UNPARSED)


def test_nothing_but_the_random_text() -> None:
    """Nothing is not alike to something, but to nothing."""
    assert grade(ROW, Answer("x7")).value == 0
    assert grade({**ROW, "answer": "x7"}, Answer("x7")).value == 1


def test_questions(loaded: Callable[..., Sequence[Question]], figures: Callable[..., dict[str, Any]]) -> None:
    """The conversation is asked as it is; needles and lengths are distinguished."""
    rows = [ROW, {**ROW, "n_needles": 8, "n_chars": 70_000}]
    first, second = loaded("mrcr", "mrcr.jsonl", rows)
    assert [message["role"] for message in first.sample.messages()] == ["user", "assistant", "user"]
    assert first.reference == {"answer": "x7A poem about tapirs", "random_string_to_prepend": "x7"}
    assert first.sample.tags["needles and length"] == "2 needles, 32-64 characters"
    assert second.sample.tags["length"] == "65536-131072 characters"
    result = figures(WORKLOAD.scorers[0], [(first, grade(ROW, Answer(ROW["answer"]))), (second, None)])
    assert result == {"mean": 0.5, "needles_2": 1, "needles_4": None, "needles_8": 0}
    assert [item.id for item in loaded("mrcr:needles=8", "mrcr.jsonl", rows)] == ["1"]
    assert [item.id for item in loaded("mrcr:longest=69999", "mrcr.jsonl", rows)] == ["0"]


@pytest.mark.slow
def test_lengths_in_tokens(loaded: Callable[..., Sequence[Question]], word_tokenizer: Path) -> None:
    """With a tokenizer the classes are those of the card: of the tokens of all messages and the answer."""
    words = {**ROW, "answer": "x7 " + "w " * (8192 - 12)}
    tasks = {8192: words, 8193: {**words, "answer": words["answer"] + "w"}}
    questions = loaded(f"mrcr:tokenizer={word_tokenizer}", "mrcr.jsonl", list(tasks.values()))
    lengths = [question.sample.tags["length"] for question in questions]
    assert lengths == ["4096-8192 tokens", "8192-16384 tokens"]
    (short,) = loaded(f"mrcr:tokenizer={word_tokenizer}", "mrcr.jsonl", [ROW])
    assert short.sample.tags["length"] == "4096-8192 tokens", "the first class has what is shorter, too"


@pytest.mark.parametrize(
    ("task", "change", "error", "message"),
    [
        ("mrcr", {"prompt": "hello"}, ColumnError, "line 1: 'prompt' must be JSON text of a list"),
        ("mrcr", {"prompt": '["a"]'}, ColumnError, "'prompt' must be JSON text"),
        ("mrcr", {"answer": None}, ColumnError, "column 'answer': null, where a text should be"),
        ("mrcr:needles=3", {}, TaskError, r"mrcr:needles=3: must be one of \(2, 4, 8\), or 0"),
        ("mrcr:tokenizer=./none", {}, SourceError, r"tokenizer=\./none: cannot be loaded"),
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
        loaded(task, "mrcr.jsonl", [{**ROW, **change}])
