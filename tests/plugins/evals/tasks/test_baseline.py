"""The scorers `baseline`, written from open-jarvis/OpenJarvis at 620f20cc, and ipw."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from loadgen.plugins.evals.tasks import baseline
from tests.plugins.evals.tasks.test_judged_agents import CRITERIA
from workloads.answer import Answer
from workloads.catalog import workload
from workloads.errors import ColumnError
from workloads.score import Status

if TYPE_CHECKING:
    from workloads.scorer import Scorer


def scorer(task: str, name: str = "baseline") -> Scorer:
    """A scorer of a benchmark."""
    return next(each for each in workload(task).scorers if each.name == name)


@pytest.mark.parametrize(
    ("predicted", "answer", "is_same"),
    [
        ("The answer is \\boxed{1,000}.", "1000", True),
        ("$5", "5.0", True),
        ("five", "5", False),
        ("New York!", "\\boxed{new york}", True),
        ("York", "new york", False),
    ],
)
def test_equal_answers(predicted: str, answer: str, is_same: bool) -> None:  # noqa: FBT001 (a case of a table)
    """The first box counts; numbers without signs of money, texts without blanks and punctuation."""
    assert baseline.same(predicted, answer) is is_same


@pytest.mark.parametrize(
    ("task", "reply", "value"),
    [
        ("natural_reasoning", "reasoning: no\ncorrect: yes", 1),
        ("natural_reasoning", "Correct!", 1),
        ("natural_reasoning", "incorrect", 0),
        ("ipw", "correct: no, TRUE would be wrong", 0),
        ("ipw", "It is true.", 1),
        ("paperarena", "CORRECT", 1),
        ("paperarena", "CORRECT or INCORRECT?", 0),
    ],
)
def test_one_verdict(task: str, reply: str, value: float) -> None:
    """A line `correct:` goes before words; an equal answer of natural_reasoning needs no judge."""
    rule = scorer(task)
    assert rule.ask is not None
    reference = {"question": "?", "answer": "5"}
    (inquiry,) = rule.ask(reference, Answer("6"))
    assert "5" in inquiry.messages[-1]["content"]
    assert rule.grade(reference, Answer("6")).status is Status.JUDGE_PENDING
    assert rule.grade(reference, Answer("6", judged={"baseline": reply})).value == value
    assert rule.grade(reference, Answer(" ")).value == 0
    assert len(rule.ask(reference, Answer("5"))) == (task != "natural_reasoning")


def test_a_trajectory() -> None:
    """Of two questions, one by the judge's word and one by the F1 of the words."""
    rule = scorer("ama_bench")
    pairs = [{"question": "Who?", "answer": "The red fox."}, {"question": "When?", "answer": "at noon"}]
    answer = Answer("Answer[1]: the red fox ran Answer[2]: never", judged={"1": "Well...", "2": "yes"})
    score = rule.grade({"pairs": pairs}, answer)
    assert (score.value, score.extracted, score.details["judge_reply"]) == (1, "2 of 2", "Well...")
    no = rule.grade({"pairs": pairs}, Answer("Answer[1]: a Answer[2]: b", judged={"1": "?", "2": "No."}))
    assert no.value == 0


def test_a_checklist_and_marks() -> None:
    """From a half on a report is right."""
    live, deep = scorer("liveresearchbench"), scorer("deepresearch")
    reply = (
        'Here:\n```json\n{"judgments": [{"index": "1", "covered": "Yes"}, {"index": 3, "covered": 1}]}\n```'
    )
    reference = {"query": "?", "checklist": ["One?", "Two?"]}
    covered = live.grade(reference, Answer("A report.", judged={"baseline": reply}))
    assert (covered.value, covered.metrics["coverage"]) == (1, 0.5)
    longer = live.grade({**reference, "checklist": ["a", "b", "c"]}, Answer("R", judged={"baseline": reply}))
    assert longer.value == 0
    marks = json.dumps({"scores": {"comprehensiveness": 10, "insight": 4, "instruction_following": 5}})
    score = deep.grade(CRITERIA, Answer("A report.", judged={"baseline": marks}))
    assert score.metrics["weighted"] == pytest.approx((10 * 0.3 + 4 * 0.4 + 5 * 0.2) / 10)
    assert score.value == 1
    assert deep.ask is not None
    (inquiry,) = deep.ask({**CRITERIA, "task": "Study."}, Answer("A report."))
    assert "  2. [25%] insight two\n     why" in inquiry.messages[0]["content"]
    assert baseline.marks_in("Insight: 6, readability = 11") == {"insight": 6}


def row(data_set: str, **cells: Any) -> dict[str, Any]:
    """A row of ipw."""
    metadata = json.dumps({"config": {"dataset_name": data_set}})
    return {"problem": "Why?", "answer": "So.", "dataset_metadata": metadata, **cells}


def test_ipw_is_judged_as_its_data_sets_are(loaded: Any, figures: Any) -> None:
    """Problems by TRUE or FALSE, chats by a win or a tie in either order; others are left out."""
    rows = [
        row("facebook/natural_reasoning", subject="physics"),
        row("allenai/WildChat", answer=" "),
        row("lmsys/lmsys-chat-1m", problem=None, prompt="Hello"),
    ]
    problem, chat = loaded("ipw", "ipw.jsonl", rows)
    assert (problem.id, problem.sample.tags["subject"], chat.id, chat.sample.prompt) == (
        "0",
        "physics",
        "2",
        "Hello",
    )
    official = scorer("ipw", "official")
    assert official.ask is not None
    assert [inquiry.key for inquiry in official.ask(problem.reference, Answer("x"))] == ["verdict"]
    assert [inquiry.key for inquiry in official.ask(chat.reference, Answer("x"))] == ["ab", "ba"]
    right = official.grade(problem.reference, Answer("x", judged={"verdict": " true\n"}))
    verdicts = {"ab": "Rubric: subjective\n[[B>A]]", "ba": "Rubric: subjective\n[[A=B]]"}
    tie = official.grade(chat.reference, Answer("x", judged=verdicts))
    assert (right.value, tie.value) == (1, 1)
    shares = figures(official, [(problem, right), (chat, tie)])
    assert (shares["accuracy"], shares["scorable"], shares["reasoning"], shares["chat"]) == (1, 1, 1, 1)


def test_ipw_says_what_its_rows_lack(loaded: Any) -> None:
    """A row is of one of three data sets."""
    with pytest.raises(ColumnError, match="of a/b, where rows are of allenai/WildChat"):
        loaded("ipw", "ipw.jsonl", [row("a/b")])
    with pytest.raises(ColumnError, match="`dataset_metadata` has no `config`"):
        loaded("ipw", "ipw.jsonl", [row("a/b", dataset_metadata="{}")])
