"""Modules of tests/conformance on records that are made here: what they excuse, and what they do not."""

from __future__ import annotations

import gzip
import json
from typing import TYPE_CHECKING, Any

import pytest

from tests.conformance import (
    humaneval,
    livecodebench,
    mmlu_pro,
    official_verdicts,
    swefficiency,
    tau2,
)
from tests.conformance.ifeval import NEEDS
from tests.conformance.ifeval import agreements as ifeval_agreements
from tests.plugins.evals.tau2_worlds import AIRLINE, RETAIL

if TYPE_CHECKING:
    from pathlib import Path

    from tests.conformance.agreement import Agreement


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


def simulations_of(tmp_path: Path, observation: str, *, user: str = "user_simulator") -> dict[str, Agreement]:
    """The lines of a record of tau2 with a call that a model refuses, and what was observed of the call."""
    call = {"name": "send_certificate", "arguments": {"user_id": "ann", "amount": None}}
    simulation = {
        "task_id": "0",
        "trial": 0,
        "termination_reason": "user_stop",
        "messages": [
            {"role": "assistant", "content": "Hi!"},
            {"role": "user", "content": "A refund, please."},
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "content": observation},
            {"role": "assistant", "content": "No."},
            {"role": "user", "content": "###STOP###"},
        ],
        "reward_info": {
            "reward": 1.0,
            "reward_basis": ["DB"],
            "reward_breakdown": {"DB": 1.0},
            "db_check": {"db_match": True},
            "action_checks": [],
            "communicate_checks": [],
        },
    }
    criteria = {"reward_basis": ["DB"]}
    task = {
        "id": "0",
        "user_scenario": {"instructions": "?"},
        "initial_state": None,
        "evaluation_criteria": criteria,
    }
    record = {
        "info": {"user_info": {"implementation": user}},
        "tasks": [task],
        "simulations": [simulation],
    }
    write(tmp_path / tau2.NEEDS[0], RETAIL)
    write(tmp_path / tau2.NEEDS[1], AIRLINE)
    write(tmp_path / "tau2" / "sims_airline_x.json.gz", record)
    return {line.scorer.removesuffix(", airline_x"): line for line in tau2.agreements(tmp_path)}


REFUSED = (
    "Error: 1 validation error for Certificate\namount\n  Input should be a valid number [type=float_type, "
    "input_value=None, input_type=NoneType]\n    For further information visit "
    "https://errors.pydantic.dev/2.11/v/float_type"
)


def test_observations_of_tau2_are_equal_whatever_they_say(tmp_path: Path) -> None:
    """Only the release of pydantic in a link may differ."""
    lines = simulations_of(tmp_path, REFUSED)
    assert all(line.passes and not line.exceptions for line in lines.values())
    lines = simulations_of(tmp_path, REFUSED.replace("amount", "price"))
    assert [name for name, line in lines.items() if not line.passes] == ["tau2/observations of episodes"]


def test_a_record_of_tau2_without_a_user(tmp_path: Path) -> None:
    """The record's episodes are left out, and the line says why."""
    lines = simulations_of(tmp_path, "?", user="dummy_user")
    assert "tau2/observations of episodes" not in lines
    line = lines["tau2/episodes"]
    assert (line.passes, list(line.exceptions)) == (True, ["were played solo, which no task here does"])


def test_a_report_of_swefficiency_of_any_name(tmp_path: Path) -> None:
    """The means of the leaderboard are compared where its reports are there."""
    columns = "instance_id,raw_pred_speedup_ratio,pred_speedup_ratio,gold_speedup_ratio,human_speedup_ratio"
    path = tmp_path / "swefficiency" / "some_model.csv.gz"
    path.parent.mkdir()
    with gzip.open(path, "wt", encoding="utf-8") as file:
        file.write(f"{columns},correctness\na__b-1,2.0,2.0,4.0,0.5,1.0\n")
    lines = list(swefficiency.agreements(tmp_path))
    assert [line.scorer for line in lines] == [
        "swefficiency/official, some_model",
        "swefficiency/imported runs",
    ]
    assert all(line.passes for line in lines)
