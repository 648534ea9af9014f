"""What the scorers for own data make of answers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from workloads.answer import Answer
from workloads.score import Status
from workloads.task import parse

if TYPE_CHECKING:
    from workloads.score import Score

SCORERS = {scorer.name: scorer for scorer in parse("faq.jsonl").workload.scorers}
CALL = {"name": "area", "arguments": {"side": 2}}


def judged(scorer: str, truth: Any, text: str, *calls: dict[str, Any]) -> Score:
    """The score of an answer."""
    reference = {"id": "0", "ground_truth": truth, "more": {}}
    return SCORERS[scorer].grade(reference, Answer(text, tool_calls=calls))


@pytest.mark.parametrize(
    ("scorer", "truth", "text", "value"),
    [
        ("exact_normalised", "The Cat", " the cat. ", 1),
        ("exact_normalised", "The Cat", "a cat", 0),
        ("exact_normalised", ["NYC", "New York"], "new  york!", 1),
        ("exact_normalised", 42, "42", 1),
        ("contains_normalised", "New York", "It is new york, I think.", 1),
        ("contains_normalised", "3", "It is 13.", 0),
        ("contains_normalised", ["3", "three"], "There are Three.", 1),
        ("choice_4", "B", "The answer is (B).", 1),
        ("choice_4", "(b)", "Answer: C", 0),
        ("choice_10", "J", "Answer: J", 1),
        ("choice_10", "I", "I think that it is C.", 0),
        ("set", ["red", "Blue"], "Blue, red", 1),
        ("set", "red; blue", "- red\n- green", 0),
        ("jaccard", ["red", "blue"], "red, green", 1 / 3),
        ("jaccard", [], "[]", 1),
        ("calls", CALL, '```json\n{"name": "area", "arguments": {"side": 2.0}}\n```', 1),
        ("calls", CALL, "area(side=3)", 0),
        ("calls", "area(side=2)", "area(side=2)", 1),
        ("calls", [CALL, {"name": "now"}], "[now(), area(side=2)]", 1),
        ("calls", [], "None of these helps.", 1),
        ("calls", [], "area(side=2)", 0),
    ],
)
def test_an_answer(scorer: str, truth: Any, text: str, value: float) -> None:
    """Read in each of the forms, and compared with the ground truth."""
    score = judged(scorer, truth, text)
    assert (score.value, score.status) == (value, Status.SCORED)


@pytest.mark.parametrize(
    ("scorer", "truth", "text"), [("choice_4", "B", "Who knows."), ("calls", CALL, "I would say 4.")]
)
def test_an_answer_that_cannot_be_read_is_wrong(scorer: str, truth: Any, text: str) -> None:
    """And is counted as such."""
    score = judged(scorer, truth, text)
    assert (score.value, score.status) == (0, Status.UNPARSED)


@pytest.mark.parametrize(
    ("scorer", "truth", "why"),
    [
        *((scorer, None, "no ground_truth") for scorer in SCORERS if scorer != "calls"),
        ("exact_normalised", "?!", "nothing but punctuation"),
        ("exact_normalised", [], "nothing but punctuation"),
        ("choice_4", "E", "'E' is not a letter from A to D"),
        ("choice_4", "Paris", "is not a letter from A to D"),
        ("calls", "Paris", "the ground_truth is neither a call"),
        ("calls", None, "the ground_truth is neither a call"),
    ],
)
def test_an_unusable_ground_truth_gives_no_score(scorer: str, truth: Any, why: str) -> None:
    """For the answer is not to blame."""
    score = judged(scorer, truth, "x")
    assert score.status is Status.INFRA_ERROR
    assert why in score.reason


def test_calls_of_tools_go_before_the_text() -> None:
    """The text of an answer that has some is talk."""
    arguments = {"function": {"name": "area", "arguments": '{"side": 2}'}}
    assert judged("calls", CALL, "area(side=3)", arguments).value == 1
    score = judged("calls", {**CALL, "arguments": {"side": 3}}, "area(side=3)", arguments)
    assert (score.value, score.reason, score.metrics["names"]) == (0, "other arguments", 1)
    assert judged("calls", {"name": "now"}, "", arguments).reason == "other functions"


def test_a_set_has_both_figures() -> None:
    """Whichever of them is the value."""
    for scorer in ("set", "jaccard"):
        score = judged(scorer, ["a", "b"], "a, c")
        assert (score.metrics["exact"], score.metrics["jaccard"]) == (0, 1 / 3)
        assert score.reason == "1 missing, 1 wrong"
