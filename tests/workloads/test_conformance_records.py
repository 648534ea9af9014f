"""Modules of tests/conformance on records that are made here: what they excuse, and what they do not."""

from __future__ import annotations

import gzip
import json
from typing import TYPE_CHECKING, Any

import pytest

from tests.conformance import humaneval, livecodebench, mmlu_pro, official_verdicts
from tests.conformance.ifeval import NEEDS
from tests.conformance.ifeval import agreements as ifeval_agreements

if TYPE_CHECKING:
    from pathlib import Path


def write(path: Path, *rows: Any) -> None:
    """Rows as lines of JSON, gzipped."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with gzip.open(path, "wt", encoding="utf-8") as file:
        file.writelines(json.dumps(row) + "\n" for row in rows)


@pytest.mark.parametrize(
    ("letters", "passes", "by"),
    [
        ({"is": "A", "announced": "B", "alone": "C", "none": "G"}, True, "official"),
        ({"is": "A", "announced": "B", "alone": "C", "none": None}, True, "official"),
        ({"is": "A", "announced": None, "alone": "G", "none": "G"}, True, "first_rule"),
        ({"is": "A", "announced": "B", "alone": "C", "none": "F"}, False, "official"),
        ({"is": "A", "announced": "H", "alone": "C", "none": "G"}, False, "official"),
    ],
)
def test_a_record_of_mmlu_pro(letters: dict[str, str | None], by: str, *, passes: bool) -> None:
    """All three rules, or the first; and no letter but the drawn one where none of them finds any."""
    record = {
        "is": "the answer is (A)",
        "announced": "Answer: B",
        "alone": "It is C.",
        "none": None,
    }
    rows = [{"question_id": name, "response": text, "pred": letters[name]} for name, text in record.items()]
    line = mmlu_pro.of_record(rows, "a model")
    assert line.passes is passes
    assert line.scorer == f"mmlu_pro/{by}, a model"


def test_ifeval_reads_an_answer_that_is_null(tmp_path: Path) -> None:
    """As an empty one, which follows nothing."""
    prompt = {"key": 1, "prompt": "?", "instruction_id_list": ["punctuation:no_comma"], "kwargs": [{}]}
    write(tmp_path / NEEDS[0], prompt)
    write(tmp_path / NEEDS[1], {"prompt": "?", "response": None})
    for need in NEEDS[2:4]:
        write(tmp_path / need, {"key": 1, "follow_instruction_list": [False], "stable": True})
    write(tmp_path / NEEDS[4], {**prompt, "instruction_id_list": ["en:punctuation:no_comma"]})
    write(
        tmp_path / "m_ifeval_en" / "x.jsonl.gz",
        {"key": 1, "response": None, "strict": [False], "loose": [False]},
    )
    lines = [line for line in ifeval_agreements(tmp_path) if not line.shortcut]
    assert len(lines) == 4
    assert all(line.passes for line in lines)


def test_records_of_programs_have_any_name(tmp_path: Path) -> None:
    """A line for each file of results."""
    problem = {"task_id": "T/0", "prompt": "def f():\n", "entry_point": "f"}
    problem["test"] = "def check(f):\n    assert f() == 1\n"
    write(tmp_path / "humaneval" / "HumanEval.jsonl.gz", problem)
    answers = [
        {"task_id": "T/0", "completion": "    return 1\n", "passed": True},
        {"task_id": "T/0", "completion": None, "passed": False},
    ]
    write(tmp_path / "humaneval" / "some_model_results.jsonl.gz", *answers)
    line = next(iter(humaneval.agreements(tmp_path)))
    assert (line.scorer, line.passes) == ("humaneval/completion, some_model", True)
    code = {"question_id": "q", "output_list": ["```python\nx\n```", None], "code_list": ["x", ""]}
    write(tmp_path / "livecodebench" / "other_eval_all.json.gz", [code])
    (line,) = livecodebench.agreements(tmp_path)
    assert (line.scorer, line.passes) == ("livecodebench/official, the code of other", True)


def test_verdicts_of_official_code(tmp_path: Path) -> None:
    """The recorded verdicts of rules without published outputs, each of which names its commit."""
    lines = list(official_verdicts.agreements(tmp_path))
    assert [line.scorer for line in lines if not line.passes] == []
    assert {line.scorer.partition(",")[0] for line in lines if not line.shortcut} == {
        *("ama_bench", "baseline", "deepplanning", "deepresearch", "lifelong-agent", "paperarena"),
        *("loghub", "pinchbench", "webchorearena"),
    }
