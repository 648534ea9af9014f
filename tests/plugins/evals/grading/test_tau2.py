"""tau2's checks of actions and texts, and the product of parts."""

from __future__ import annotations

from typing import Any

import pytest

from loadgen.plugins.evals.grading.tau2 import action_checks, communicate_checks, simulation_reward
from workloads.errors import MalformedError


def call(name: str, **arguments: Any) -> dict[str, Any]:
    """A message with one call."""
    return {"role": "assistant", "content": None, "tool_calls": [{"name": name, "arguments": arguments}]}


def test_actions() -> None:
    """By name and the arguments that count."""
    messages = [call("a", x=1, y=2), {"role": "user", "content": "hi", "tool_calls": None}]
    actions: list[dict[str, Any]] = [
        {"name": "a", "arguments": {"x": 1, "y": 2}},
        {"name": "a", "arguments": {"x": 1, "y": 3}},
        {"name": "a", "arguments": {"x": 1, "y": 3}, "compare_args": ["x"]},
        {"name": "a", "arguments": {"x": 9}, "compare_args": []},
        {"name": "b", "arguments": {}},
        {"name": "a", "arguments": {"x": 1, "y": 2, "z": 3}, "compare_args": None},
    ]
    assert action_checks(messages, actions) == [True, False, True, True, False, True]
    assert action_checks(messages, None) == []


def test_texts() -> None:
    """In one message of the agent, without its commas."""
    messages = [
        {"role": "assistant", "content": "You pay $1,234 for SEAT 5"},
        {"role": "user", "content": "secret"},
        {"role": "assistant", "content": None},
    ]
    assert communicate_checks(messages, ["1234", "Seat", "secret"]) == [True, True, False]


def test_rewards() -> None:
    """The product of the parts that count; nothing for a premature end."""
    parts = {"DB": 1.0, "COMMUNICATE": 0.0}
    assert simulation_reward("user_stop", ["DB"], parts) == 1
    assert simulation_reward("agent_stop", ["DB", "COMMUNICATE"], parts) == 0
    assert simulation_reward("max_steps", ["DB"], parts) == 0
    assert simulation_reward("user_stop", None, {}) == 1
    with pytest.raises(MalformedError, match="NL_ASSERTION"):
        simulation_reward("user_stop", ["DB", "NL_ASSERTION"], parts)
