"""Judged benchmarks of reports, trajectories and papers: what is asked, and how a judge's words count."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import orjson
import pytest

from loadgen.plugins.evals.grading.race import DIMENSIONS, marks_in, race
from loadgen.plugins.evals.tasks.ama_bench import answers_in
from workloads.answer import Answer
from workloads.catalog import workload
from workloads.errors import ColumnError
from workloads.score import Status

if TYPE_CHECKING:
    from pathlib import Path


WEIGHTS = {"comprehensiveness": 0.3, "insight": 0.4, "instruction_following": 0.2, "readability": 0.1}
CRITERIA: dict[str, Any] = {
    "dimension_weight": WEIGHTS,
    "criterions": {
        name: [
            {"criterion": f"{name} one", "explanation": "why", "weight": 0.75},
            {"criterion": f"{name} two", "explanation": "why", "weight": 0.25},
        ]
        for name in DIMENSIONS
    },
}


def marks(first: float = 6, second: float = 4, **changed: list[Any]) -> dict[str, Any]:
    """The marks of a judge who gives every criterion the same."""
    items = {
        name: [
            {"criterion": f"{name} {which}", "article_1_score": first, "article_2_score": second}
            for which in ("one", "two")
        ]
        for name in DIMENSIONS
    }
    return items | changed


def test_race_is_the_reports_share_of_the_weighted_marks() -> None:
    """By hand: in one dimension 8 and 4 with the weights 0.75 and 0.25 are 7; the others are 6 against 4."""
    readable = [
        {"criterion": "readability one", "article_1_score": 8, "article_2_score": "4"},
        {"criterion": "readability two", "article_1_score": 4, "article_2_score": 4},
    ]
    result = race(marks(readability=readable), CRITERIA)
    assert result.dimensions["insight"] == pytest.approx(0.6)
    assert result.dimensions["readability"] == pytest.approx(7 / 11)
    report = 0.9 * 6 + 0.1 * 7
    assert result.overall == pytest.approx(report / (report + 4))


@pytest.mark.parametrize(
    ("name", "weight"),
    [
        ("READABILITY One", 0.75),
        ("readability two, and more", 0.25),
        (" readability two ", 0.25),
        ("other", 0.5),
    ],
)
def test_a_criterion_in_other_words(name: str, weight: float) -> None:
    """It is matched without case, then as a part; one that matches nothing has the mean weight."""
    readable = [
        {"criterion": name, "article_1_score": 10, "article_2_score": 0},
        {"criterion": "readability one", "article_1_score": 0, "article_2_score": 10},
    ]
    share = race(marks(readability=readable), CRITERIA).dimensions["readability"]
    assert share == pytest.approx(weight / (weight + 0.75))


def test_marks_that_cannot_be_weighed_are_left_out() -> None:
    """Items without a criterion or with a text for a mark; a dimension that is not one."""
    odd = [
        {"criterion": "readability one", "article_1_score": 5, "article_2_score": 5},
        {"criterion": "readability two", "article_1_score": "good", "article_2_score": 1},
        {"article_1_score": 0, "article_2_score": 9},
        "x",
    ]
    result = race(marks(readability=odd, beauty=odd), CRITERIA)
    assert result.dimensions["readability"] == 0.5
    assert race(marks(0, 0), CRITERIA).overall == 0.0


def test_the_judges_json_is_found() -> None:
    """Alone, in a fence, between other words; all four dimensions are needed."""
    text = orjson.dumps(marks()).decode()
    for reply in (text, f"So:\n```json\n{text}\n```\nDone.", f"Here: {text} ok"):
        assert marks_in(reply) == marks()
    for reply in ("", "{}", text.replace("insight", "sight"), text[:-1]):
        assert marks_in(reply) is None


def _write(folder: Path, **files: list[dict[str, Any]]) -> None:
    for name, rows in files.items():
        (folder / f"{name}.jsonl").write_bytes(b"\n".join(map(orjson.dumps, rows)))


def test_deepresearch(tmp_path: Path, loaded: Any) -> None:
    """The judge sees both reports and the criteria without their weights, in the task's language."""
    _write(
        tmp_path,
        criteria=[{"prompt": "Study it.", **CRITERIA}, {"prompt": "研究。", **CRITERIA}],
        reference=[{"prompt": "Study it.", "article": "THEIRS"}, {"prompt": "研究。", "article": "他们"}],
    )
    rows = [
        {"id": 51, "topic": "Art", "language": "en", "prompt": "Study it."},
        {"id": 1, "topic": "Art", "language": "zh", "prompt": "研究。"},
    ]
    english, chinese = loaded("deepresearch", "query.jsonl", rows)
    scorer = workload("deepresearch").scorers[0]
    assert scorer.ask is not None
    (inquiry,) = scorer.ask(english.reference, Answer("OURS"))
    text = inquiry.messages[0]["content"]
    assert '<article_1>\n"OURS"\n' in text
    assert '<article_2>\n"THEIRS"\n' in text
    assert '"criterion": "insight one"' in text
    assert "0.75" not in text
    (inquiry,) = scorer.ask(chinese.reference, Answer("我们"))
    assert "任务背景" in inquiry.messages[0]["content"]
    assert scorer.grade(english.reference, Answer("OURS")).status is Status.JUDGE_PENDING
    score = scorer.grade(english.reference, Answer("OURS", judged={"marks": orjson.dumps(marks()).decode()}))
    assert score.value == pytest.approx(0.6)
    assert score.metrics["insight"] == pytest.approx(0.6)
    unread = scorer.grade(english.reference, Answer("OURS", judged={"marks": "Both are good."}))
    assert (unread.status, unread.details["judge_reply"]) == (Status.INFRA_ERROR, "Both are good.")


def test_deepresearch_without_a_reference_report(tmp_path: Path, loaded: Any) -> None:
    """The row is named whose report is missing."""
    _write(
        tmp_path, criteria=[{"prompt": "Study it.", **CRITERIA}], reference=[{"prompt": "x", "article": "y"}]
    )
    row = {"id": 51, "topic": "Art", "language": "en", "prompt": "Study it."}
    with pytest.raises(ColumnError, match=r"line 1: there is no reference report of this prompt"):
        loaded("deepresearch", "query.jsonl", [row])


EPISODE: dict[str, Any] = {
    "episode_id": 7,
    "task": "Find it.",
    "task_type": "web",
    "domain": "shop",
    "trajectory": [{"turn_idx": 0, "action": "look", "observation": "a box"}],
    "qa_pairs": [{"question": "What?", "answer": "the box"}, {"question": "Where?", "answer": "here"}],
}


def test_ama_bench_asks_all_questions_at_once(loaded: Any) -> None:
    """Task, steps, questions and the slots of their answers; the judge is asked about each."""
    (question,) = loaded("ama_bench", "open_end.jsonl", [EPISODE])
    assert question.sample.prompt.startswith("## Task Description\nFind it.\n\n## Agent Trajectory\n")
    assert "Step 0:\nAction: look\nObservation: a box\n" in question.sample.prompt
    assert question.sample.prompt.endswith("Answer[1]: [your answer here]\nAnswer[2]: [your answer here]")
    scorer = workload("ama_bench").scorers[0]
    assert scorer.ask is not None
    answer = Answer("Answer[1]: a box\nmore\nAnswer[2]: there")
    first, second = scorer.ask(question.reference, answer)
    assert (first.key, second.key) == ("1", "2")
    assert "Predicted Answer: a box\n" in first.messages[0]["content"]
    assert "Task Context: Find it." in first.messages[0]["content"]


@pytest.mark.parametrize(
    ("replies", "value", "correct", "unread"),
    [
        (["yes", "no"], 0.5, 1, 0),
        (["<think>no</think> Yes.", "It is not. no"], 0.5, 1, 0),
        # Neither: the F1 of "a box" and "the box" is 1, articles left out; that of "there" and "here" is 0.
        (["perhaps", "perhaps"], 0.5, 1, 2),
    ],
)
def test_ama_bench_scores(replies: list[str], value: float, correct: int, unread: int) -> None:
    """The last yes or no counts; without one the words that are shared."""
    reference = {"pairs": EPISODE["qa_pairs"]}
    answer = Answer("Answer[1]: a box\nAnswer[2]: there", judged={"1": replies[0], "2": replies[1]})
    score = workload("ama_bench").scorers[0].grade(reference, answer)
    assert (score.value, score.metrics["correct"], score.metrics["unread"]) == (value, correct, unread)
    waiting = workload("ama_bench").scorers[0].grade(reference, Answer("", judged={"1": "yes"}))
    assert waiting.status is Status.JUDGE_PENDING


def test_ama_bench_reads_answers_as_officially() -> None:
    """The first line of each; the whole response where the marker is missing."""
    assert answers_in("Answer[1]: x\ny\nAnswer[2]: z", 2) == ["x", "z"]
    assert answers_in("<think>Answer</think> It is x.", 1) == ["It is x."]
    assert answers_in("Answer[2]: z", 2)[1] == "z"


def test_ama_bench_figures(loaded: Any, figures: Any) -> None:
    """Figures are over questions, with and without those whose judgement could not be read."""
    first, second = loaded("ama_bench", "open_end.jsonl", [EPISODE, {**EPISODE, "episode_id": 8}])
    scorer = workload("ama_bench").scorers[0]
    text = "Answer[1]: a box\nAnswer[2]: there"
    scores = [
        scorer.grade(first.reference, Answer(text, judged={"1": "yes", "2": "no"})),
        scorer.grade(second.reference, Answer(text, judged={"1": "no", "2": "?"})),
    ]
    shares = figures(scorer, [(first, scores[0]), (second, scores[1])])
    assert shares == {"avg_score": 0.25, "accuracy": 0.25, "judged_only": pytest.approx(1 / 3)}


@pytest.mark.parametrize(
    ("reply", "value", "status"),
    [
        (" true\n", 1.0, Status.SCORED),
        ("FALSE", 0.0, Status.SCORED),
        ("TRUE, it is.", None, Status.INFRA_ERROR),
    ],
)
def test_natural_reasoning(loaded: Any, reply: str, value: float | None, status: Status) -> None:
    """One word counts; rows without a reference answer are not asked."""
    rows = [{"question": "Why?", "reference_answer": ""}, {"question": "What?", "reference_answer": "42"}]
    (question,) = loaded("natural_reasoning", "natural_reasoning.jsonl", rows)
    assert (question.id, question.sample.prompt) == ("1", "What?")
    scorer = workload("natural_reasoning").scorers[0]
    assert scorer.ask is not None
    (inquiry,) = scorer.ask(question.reference, Answer("it is {42}"))
    assert "Answer:\nit is {42}\n" in inquiry.messages[0]["content"]
    score = scorer.grade(question.reference, Answer("", judged={"verdict": reply}))
    assert (score.value, score.status) == (value, status)


def test_paperarena(loaded: Any, figures: Any) -> None:
    """An invalid reply is wrong, as officially; the share without such replies stands next to it."""
    row = {
        "qa_id": "q1",
        "question": "Which?",
        "answer": "(A)",
        "qa_type": "Multi-Choice Answer",
        "difficulty": "Easy",
    }
    (question,) = loaded("paperarena", "paperarena.jsonl", [row])
    scorer = workload("paperarena").scorers[0]
    assert scorer.ask is not None
    (inquiry,) = scorer.ask(question.reference, Answer("(B)"))
    assert re.search(r"Multi-Choice Answer\):\nWhich\?", inquiry.messages[0]["content"])
    reply = '```json\n{"correct": "true", "reasoning": "so", "confidence": 9}\n```'
    right = scorer.grade({}, Answer("", judged={"verdict": reply}))
    assert (right.value, right.metrics["confidence"]) == (1.0, 0.9)
    for invalid in (
        "yes",
        reply.replace("9", "11"),
        reply.replace('"true"', "true"),
        reply.replace("9", "true"),
    ):
        wrong = scorer.grade({}, Answer("", judged={"verdict": invalid}))
        assert (wrong.value, wrong.status, wrong.details["judge_reply"]) == (0.0, Status.SCORED, invalid)
    shares = figures(scorer, [(question, right), (question, wrong)])
    assert (shares["accuracy"], shares["parsed"], shares["multi_choice"]) == (0.5, 1.0, 0.5)


CHECKED: list[dict[str, Any]] = [
    {
        "qid": "qid_a1",
        "question_no_placeholder": "Study {it}.",
        "checklist_no_placeholder": item,
        "category": "Tech",
    }
    for item in ("Has a date?", "Has a name?")
]


def _live(folder: Path, loaded: Any) -> Any:
    reports = folder / "reference_reports"
    reports.mkdir(exist_ok=True)
    (reports / "qid_a1_report.md").write_text("THEIRS")
    (question,) = loaded("liveresearchbench", "liveresearchbench.jsonl", CHECKED)
    return question


def replies(**changed: str) -> dict[str, str]:
    """What a judge said of each side."""
    shares = {f"p{number}": {"score": int(number > 2)} for number in range(1, 11)}
    covered = {"q1": {"score": 1}, "q2": {"score": 0}}
    sides = {
        "presentation": {"evaluations": shares},
        "coverage": {"evaluations": covered},
        "consistency": {"score": 90},
        "citation": {"score": 70},
        "depth_ab": {"winner": "A"},
        "depth_ba": {"winner": "tie"},
    }
    return {key: orjson.dumps(value).decode() for key, value in sides.items()} | changed


def test_liveresearchbench(tmp_path: Path, loaded: Any, figures: Any) -> None:
    """Five sides: two shares, two marks and two comparisons, of which ties do not count."""
    question = _live(tmp_path, loaded)
    scorer = workload("liveresearchbench").scorers[0]
    assert scorer.ask is not None
    asked = {inquiry.key: inquiry.messages for inquiry in scorer.ask(question.reference, Answer("OURS"))}
    assert "- q1: Has a date?\n- q2: Has a name?\n" in asked["coverage"][1]["content"]
    assert f"Today's date is: {question.reference['date']}\n" in asked["citation"][0]["content"]
    assert "TASK: Study {it}.\n\nREPORT TO EVALUATE:\nOURS\n" in asked["consistency"][1]["content"]
    assert "REPORT A:\nTHEIRS\n" in asked["depth_ba"][1]["content"]
    score = scorer.grade(question.reference, Answer("OURS", judged=replies()))
    assert score.value == pytest.approx((0.8 + 0.5 + 0.9 + 0.7 + 0.75) / 5)
    shares = figures(scorer, [(question, score)])
    assert shares == pytest.approx(
        {
            "sides": score.value,
            "presentation": 0.8,
            "coverage": 0.5,
            "consistency": 0.9,
            "citation": 0.7,
            "depth_win_rate": 1.0,
        }
    )
    waiting = scorer.grade(question.reference, Answer("OURS", judged={"citation": "{}"}))
    assert waiting.status is Status.JUDGE_PENDING
    for side, reply in (
        ("citation", '{"score": "good"}'),
        ("depth_ab", '{"winner": "C"}'),
        ("coverage", '{"evaluations": [1]}'),
    ):
        unread = scorer.grade(question.reference, Answer("OURS", judged=replies(**{side: reply})))
        assert (unread.status, side in unread.reason) == (Status.INFRA_ERROR, True)


def test_liveresearchbench_without_a_reference_report(tmp_path: Path, loaded: Any) -> None:
    """The message says how to do without."""
    (tmp_path / "qid_b_report.md").write_text("THEIRS")
    with pytest.raises(ColumnError, match=r"no reference report of this task; liveresearchbench:depth=no"):
        loaded("liveresearchbench", "liveresearchbench.jsonl", CHECKED)
