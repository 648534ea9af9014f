"""The tests of a task in a terminal, run in the container that its agent has left."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from workloads.errors import MalformedError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from workloads.sandbox.base import Sandbox
    from workloads.tasks.terminal_tasks import TerminalTask

_REWARDS: Final = ("/logs/verifier/reward.json", "/logs/verifier/reward.txt")
"""Of Harbor; the first that is there counts."""


@dataclass(frozen=True, slots=True)
class TerminalTests:
    """What the tests left.

    Attributes:
        output: What they wrote: of Terminal-Bench 1, the pane that is parsed.
        timed_out: Whether they took longer than the task allows (`test_timeout`).
        rewards: Of Harbor, by their names; None where none was left, which counts as 0.
    """

    output: str
    timed_out: bool
    rewards: Mapping[str, float] | None = None


def run_tests(sandbox: Sandbox, task: TerminalTask) -> TerminalTests:
    """Copy the tests into the container, and run them. What an agent left as reward is removed first.

    Raises:
        SandboxError: The container failed: nothing is known of the agent's work.
        MalformedError: A reward is not a finite number.
    """
    sandbox.exec(["rm", "-rf", "/tests", *_REWARDS])
    sandbox.put_files(task.tests)
    result = sandbox.exec(task.command, task.tests_s)
    timed_out = result.ending == "timed_out"
    rewards = _rewards(sandbox) if task.kind == "harbor" and not timed_out else None
    return TerminalTests(result.stdout + result.stderr, timed_out, rewards)


def _rewards(sandbox: Sandbox) -> Mapping[str, float] | None:
    for path in _REWARDS:
        try:
            text = sandbox.get_file(path).decode(errors="replace")
        except FileNotFoundError:
            continue
        return rewards_of(text, path)
    return None


def rewards_of(text: str, path: str) -> Mapping[str, float]:
    """The rewards in a file: JSON with a number by each name, or one number.

    Raises:
        MalformedError: It is empty, or a reward is not a finite number.
    """
    try:
        values = json.loads(text) if path.endswith(".json") else {"reward": float(text)}
    except ValueError as error:
        raise MalformedError(f"{path}: no reward can be read of {text[:80]!r}") from error
    if not isinstance(values, dict) or not values:
        raise MalformedError(f"{path}: no reward can be read of {text[:80]!r}")
    for name, value in values.items():
        if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
            raise MalformedError(f"{path}: the reward {name} is not a finite number: {value!r}")
    return {name: float(value) for name, value in values.items()}
