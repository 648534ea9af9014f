"""Terminal-Bench's panes, Harbor's reward files and the leaderboard's statistics."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import pytest

from loadgen.plugins.evals.grading.harbor_reward import leaderboard_accuracy, rewards_by_task, rewards_in
from loadgen.plugins.evals.grading.terminal_pane import is_resolved, results_of_tests
from workloads.errors import MalformedError

if TYPE_CHECKING:
    from pathlib import Path

HEADING = "PASSED before.py::x\n==== short test summary info ====\n"


def test_a_pane() -> None:
    """Results by the last part of the identifier; skipped passes, an unexpected pass does not."""
    pane = HEADING + (
        "PASSED ../t.py::test_a\nFAILED ../t.py::test_b - assert 1\nSKIPPED ../t.py::test_c\n"
        "XFAIL ../t.py::test_d\nXPASS ../t.py::test_e\nERROR ../t.py - ImportError: x\n1 passed\n"
    )
    results = results_of_tests(pane)
    assert results == {
        "test_a": True,
        "test_b": False,
        "test_c": True,
        "test_d": True,
        "test_e": False,
        "../t.py - ImportError: x": False,
    }
    assert not is_resolved(results)
    assert is_resolved({"test_a": True, "test_c": True})
    assert not is_resolved(results_of_tests(HEADING))
    with pytest.raises(MalformedError, match="no 'short test summary info'"):
        results_of_tests("PASSED t.py::test_a")


def test_reward_files(tmp_path: Path) -> None:
    """JSON comes before text; none is a trial without a reward."""
    assert rewards_in(tmp_path) is None
    (tmp_path / "reward.txt").write_text("0.5\n")
    assert rewards_in(tmp_path) == {"reward": 0.5}
    (tmp_path / "reward.json").write_text('{"reward": 1, "speed": 0.25}')
    assert rewards_in(tmp_path) == {"reward": 1.0, "speed": 0.25}


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("reward.txt", " \n"),
        ("reward.txt", "yes"),
        ("reward.txt", "nan"),
        ("reward.json", ""),
        ("reward.json", "1"),
        ("reward.json", '{"reward": Infinity}'),
        ("reward.json", '{"reward": [1]}'),
        ("reward.json", "{"),
    ],
)
def test_a_reward_file_that_is_wrong(tmp_path: Path, name: str, text: str) -> None:
    """The message names the file."""
    (tmp_path / name).write_text(text)
    with pytest.raises(MalformedError, match=name):
        rewards_in(tmp_path)


def test_leaderboard() -> None:
    """A missing reward is 0; the error is that of a mean over tasks with repeated attempts."""
    trials = [
        {"task_name": "a", "verifier_result": {"rewards": {"reward": 1}}},
        {"task_name": "a", "verifier_result": None},
        {"task_name": "b", "verifier_result": {"rewards": {"reward": 1.0}}},
        {"task_name": "b", "verifier_result": {"rewards": {"reward": 1.0}}},
    ]
    rewards = rewards_by_task(trials)
    assert rewards == {"a": [1.0, None], "b": [1.0, 1.0]}
    accuracy = leaderboard_accuracy(rewards)
    assert accuracy == (0.75, math.sqrt(0.5 * 0.5 / 1) / 2, 2, 4)
    assert leaderboard_accuracy({"a": [1.0]}).standard_error is None
    for empty in ({}, {"a": []}):
        with pytest.raises(ValueError, match="at least one task"):
            leaderboard_accuracy(empty)
    with pytest.raises(MalformedError, match="task_name"):
        rewards_by_task([{}])
