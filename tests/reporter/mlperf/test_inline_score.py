"""The inline score of MLPerf's agentic inference."""

from __future__ import annotations

from typing import Any

import orjson
import pytest

from loadgen.plugins.mlperf.accuracy_results import accuracy_results
from loadgen.plugins.mlperf.inline_score import inline_score, intent, programs, turn_score
from rulesets.evidence import Accuracy


def bash(*commands: str, key: str = "command") -> dict[str, Any]:
    """An answer with bash calls."""
    calls = [
        {"function": {"name": "bash", "arguments": orjson.dumps({key: each}).decode()}} for each in commands
    ]
    return {"role": "assistant", "tool_calls": calls}


@pytest.mark.parametrize(
    ("command", "named"),
    [
        ("CUDA_VISIBLE_DEVICES=0 /usr/bin/python3.11 -m pytest", ["python"]),
        ("cd /testbed && grep -rn 'a | b; rm -rf x' . | head -5", ["grep", "head"]),
        ("sudo env A=1 pip3 install x; unknown --flag || rg x", ["pip", "grep"]),
        (". venv/bin/activate\nfind . -name '*.py' | xargs sed -i s/a/b/", ["source", "find", "xargs"]),
        ("", []),
    ],
)
def test_the_programs_of_a_command(command: str, named: list[str]) -> None:
    """Without assignments, wrappers, paths, versions and quoted text; equals have one name, others none."""
    assert programs(bash(command)) == programs(bash(command, key="cmd")) == named


def test_calls_that_are_not_bash_do_not_count() -> None:
    """Other functions, broken arguments and other types."""
    broken = {"function": {"name": "bash", "arguments": "{"}}
    other = {"function": {"name": "search", "arguments": '{"command": "ls"}'}}
    assert programs({"tool_calls": [broken, other, None, {"function": 3}]}) == []
    assert programs({"tool_calls": None}) == []


def test_the_intent_of_an_answer() -> None:
    """After `intent:`, the reasoning first; else the last code of the first text that has one."""
    assert intent({"content": "I001 then intent: i042"}) == "I042"
    assert intent({"content": "intent: I002", "reasoning_content": "maybe intent: I001"}) == "I001"
    assert intent({"content": "I003 or I004"}) == "I004"
    assert intent({"content": "none", "reasoning_content": None}) is None


def test_the_score_of_a_run() -> None:
    """Workflows by intent, coding by programs; a missing answer is 0, turns without a record are left out."""
    recorded = {
        ("sim_1", 0): {"intent_codes": ["i001", "I002", None]},
        ("sim_1", 1): {"intent_codes": []},
        ("django", 0): bash("ls; ls; cat a"),
        ("django", 1): {"content": "done"},
    }
    issued = [
        ("sim_1", 0, {"content": "intent: I002"}),
        ("sim_1", 1, {"content": "intent: I002"}),
        ("django", 0, bash("ls", "cat b", "git log")),
        ("django", 0, None),
        ("django", 1, bash("ls")),
    ]
    score = inline_score(recorded, issued)
    assert score == (pytest.approx(100 * (1 + 2 / 4 + 0) / 3), 3, 1)
    assert turn_score("django", recorded["django", 0], recorded["django", 0]) == 1


def test_the_scores_of_an_export_are_shares() -> None:
    """`inline` is of the performance run, `swe_bench` of another run; rules bound them in per cent."""
    scores = {
        "inline": Accuracy(58.9, 3, figure="inline"),
        "swe_bench": Accuracy(94.5, 200, figure="swe_bench"),
    }
    entries = accuracy_results(scores, "trajectories")["accuracy_scores"]
    assert [(each["dataset_name"], each["dataset_type"], each["score"]) for each in entries] == [
        ("performance", "performance", pytest.approx(0.589)),
        ("swe_bench", "accuracy", pytest.approx(0.945)),
    ]
