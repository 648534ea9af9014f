"""Mathematics: gsm8k, math500, aime."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from loadgen.plugins.evals.tasks import math500
from loadgen.plugins.evals.tasks.gsm8k import number_in
from workloads.answer import Answer
from workloads.catalog import workload
from workloads.errors import ColumnError
from workloads.question_loading import load
from workloads.score import Status
from workloads.task import parse

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from workloads.question import Question
    from workloads.score import Score

GSM: Final = {"question": "How many?", "answer": "48/2 = <<48/2=24>>24.\n#### 1,224"}
MATH: Final = {
    "problem": "What is $\\frac{1}{2}$ of {1}?",
    "answer": "\\frac{1}{2}",
    "subject": "Algebra",
    "level": 2,
    "unique_id": "test/algebra/1.json",
}


def asked(folder: Path, task: str, *rows: dict[str, Any]) -> Sequence[Question]:
    """The questions of a task, of rows that are written to a folder."""
    lines = (json.dumps(row) for row in rows)
    (folder / "test.jsonl").write_text("\n".join(lines), encoding="utf-8")
    return load(parse(task), folder).questions


def judged(task: str, scorer: str, right: object, text: str) -> Score:
    """The score of an answer by one of a task's scorers."""
    result = next(candidate for candidate in workload(task).scorers if candidate.name == scorer)
    return result.grade({"answer": right}, Answer(text))


# gsm8k…


def test_gsm8k_has_the_number_without_commas(tmp_path: Path) -> None:
    """A row without one is an error."""
    (question,) = asked(tmp_path, "gsm8k", GSM)
    assert question.reference == {"answer": "1224"}
    assert question.sample.prompt.startswith("How many?\n\n")
    with pytest.raises(ColumnError, match=r"line 1, column 'answer': no `####`"):
        asked(tmp_path, "gsm8k", GSM | {"answer": "24"})


@pytest.mark.parametrize(
    ("scorer", "text", "value", "status"),
    [
        ("official", "So\n#### 1,224", 1, "scored"),
        ("official", "#### 1224\n#### 7", 1, "scored"),
        ("official", "#### 7\n#### 1224", 0, "scored"),
        ("official", "#### 1224.", 0, "scored"),
        ("official", "#### 1224.00", 0, "scored"),
        ("official", "####1224", 0, "unparsed"),
        ("official", "#### $1224", 0, "unparsed"),
        ("official", "#### ,", 0, "scored"),
        ("official", "A: 1224", 0, "unparsed"),
        ("official", "", 0, "unparsed"),
        ("published_format", "job A: 7\r\nA: 1,224", 1, "scored"),
        ("published_format", "#### 1224", 0, "unparsed"),
        ("mlperf", "The answer is 1,224.00, not 7.", 1, "scored"),
        ("mlperf", "7 or 1224", 1, "scored"),
        ("mlperf", "1224\nQ: And 7?", 1, "scored"),
        ("mlperf", "The answer is seven. 1224", 1, "scored"),
        ("mlperf", "The answer is 5. The answer is none", 0, "scored"),
        ("mlperf", "none", 0, "unparsed"),
    ],
)
def test_gsm8k_scorers(scorer: str, text: str, value: float, status: str) -> None:
    """The official one compares texts, the one of MLPerf numbers."""
    score = judged("gsm8k", scorer, "1224", text)
    assert (score.value, score.status) == (value, status)


@settings(max_examples=50, deadline=None)
@given(st.lists(st.sampled_from([*"0123", *",.- x", "The answer is", "\nQ:"]), max_size=12).map("".join))
def test_mlperf_numbers_are_those_of_its_expression(text: str) -> None:
    """The regular expression of linear time finds what the published one does."""
    text = text.partition("\nQ:")[0]
    numbers = re.findall(r"-?[\d,]*\.?\d+", text)
    payload = re.findall(r"-?[\d,]*\.?\d+", text.rpartition("The answer is")[2])
    expected = payload[0] if "The answer is" in text and payload else (numbers or [None])[-1]
    assert number_in(text) == (expected and expected.replace(",", ""))


def test_a_row_of_commas_is_not_a_number() -> None:
    """And is found to be none in no time."""
    assert judged("gsm8k", "mlperf", "1", "," * 200_000).status is Status.UNPARSED


# math500…


def test_math500_asks_for_a_box(tmp_path: Path) -> None:
    """Braces in a problem stay as they are."""
    (question,) = asked(tmp_path, "math500", MATH)
    assert question.sample.prompt == (
        "What is $\\frac{1}{2}$ of {1}?\n\n"
        "Please reason step by step, and put your final answer within \\boxed{}."
    )
    assert (question.id, question.sample.tags) == (
        "test/algebra/1.json",
        {"subject": "Algebra", "level": "2"},
    )
    assert question.reference == {"answer": "\\frac{1}{2}"}


@pytest.mark.parametrize(
    ("scorer", "text", "value", "status"),
    [
        ("official", r"So \boxed{0.5}.", 1, "scored"),
        ("official", r"\boxed{2} no: $\boxed{\dfrac12}$", 1, "scored"),
        ("official", r"\boxed{\frac{2}{4}}", 0, "scored"),
        ("official", r"\boxed{}", 0, "scored"),
        ("official", "1/2", 0, "unparsed"),
        ("official", "", 0, "unparsed"),
        ("math_verify", r"So \boxed{0.5}.", 1, "scored"),
        ("math_verify", r"\boxed{\frac{2}{4}}", 1, "scored"),
        ("math_verify", "The answer is $1/2$.", 1, "scored"),
        ("math_verify", r"\boxed{3}", 0, "scored"),
        ("math_verify", "Who knows?", 0, "unparsed"),
    ],
)
def test_math500_scorers(scorer: str, text: str, value: float, status: str) -> None:
    """The official one wants a fraction reduced, and in a box; Math-Verify reads the whole text."""
    score = judged("math500", scorer, MATH["answer"], text)
    assert (score.value, score.status) == (value, status)


def test_math500_ends_endless_comparisons(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is not shown to be equal in time is not equal, and the score says why."""
    monkeypatch.setattr(math500, "LONGEST_S", 0.1)
    score = judged("math500", "official", "x", r"\boxed{9**9**9}")
    assert (score.value, score.status) == (0, Status.SCORED)
    assert "not shown to be equal" in score.reason


@pytest.mark.parametrize("text", ["1e999999999", "5E-9999999", "1_0e9_9_9_9_9_9_9"])
def test_math500_computes_with_no_huge_number(text: str) -> None:
    """A decimal number of a thousand million digits would stop everything."""
    assert judged("math500", "official", "x", f"\\boxed{{{text}}}").value == 0


# aime…


@pytest.mark.parametrize(
    "row",
    [
        {"question": "How many?", "answer": "336^\\circ"},
        {"problem": "How many?", "answer": 336},
        {"Problem": "How many?", "Answer": 336.0, "ID": "2024-I-1"},
    ],
)
def test_aime_reads_data_of_any_year(tmp_path: Path, row: dict[str, Any]) -> None:
    """The columns have other names from year to year; of a text, the number that it begins with counts."""
    (question,) = asked(tmp_path, "aime", row)
    assert question.reference == {"answer": 336}
    assert question.sample.prompt == (
        "\nHow many?\nPlease reason step by step, and put your final answer within \\boxed{}.\n"
    )


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"question": "How many?", "answer": "many"}, "'many', where a whole number should be"),
        ({"question": "How many?", "answer": None}, "None, where a whole number should be"),
        ({"question": "How many?"}, "no column 'answer'"),
        ({"answer": 3}, "no column 'question'"),
    ],
)
def test_aime_refuses_rows_that_are_not_problems(tmp_path: Path, row: dict[str, Any], message: str) -> None:
    """With their place."""
    with pytest.raises(ColumnError, match=message):
        asked(tmp_path, "aime", row)


@pytest.mark.parametrize(
    ("text", "value", "status"),
    [
        (r"\boxed{070}", 1, "scored"),
        (r"\boxed{7} \boxed{70}", 1, "scored"),
        (r"\boxed{70} \boxed{}", 1, "scored"),
        (r"\boxed{x = 7, 70}", 1, "scored"),
        (r"\framebox{70}", 1, "scored"),
        (r"\boxed{\text{70}}", 0, "unparsed"),
        (r"\boxed{70.0}", 0, "unparsed"),
        (r"7, then 70.", 1, "scored"),
        (r"70 \boxed{7", 0, "scored"),
        (r"\boxed{71}", 0, "scored"),
        ("none", 0, "unparsed"),
        ("", 0, "unparsed"),
        ("9" * 5000, 0, "unparsed"),
        ("boxed{" * 30_000, 0, "unparsed"),
    ],
    ids=lambda value: str(value)[:20],
)
def test_aime_reads_the_last_box_else_the_last_number(text: str, value: float, status: str) -> None:
    """As gpt-oss does; what is not a whole number is not one."""
    score = judged("aime", "official", 70, text)
    assert (score.value, score.status) == (value, status)
