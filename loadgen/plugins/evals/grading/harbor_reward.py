"""Harbor's rewards: the files that a verifier writes, and the statistics of Terminal-Bench 2's leaderboard.

harbor 0.25.0, `verifier/verifier.py`; laude-institute/terminal-bench-experiments at 1dc41312,
`sql/compute_accuracy.sql`.
"""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from workloads.errors import MalformedError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

JSON_FILE: Final = "reward.json"
TEXT_FILE: Final = "reward.txt"


class HarborAccuracy(NamedTuple):
    """A leaderboard's figures, as shares.

    Attributes:
        mean: Over tasks, of the mean reward of their attempts.
        standard_error: Of the mean; None where a task has a single attempt.
        tasks: How many.
        attempts: Of all tasks.
    """

    mean: float
    standard_error: float | None
    tasks: int
    attempts: int


def rewards_in(folder: Path) -> dict[str, float] | None:
    """The rewards that a verifier left, by name; `reward` is the one that counts.

    `reward.json` comes before `reward.txt`. None where there is neither: a trial without a reward.

    Raises:
        MalformedError: A file is empty, no JSON object of numbers or no number, or a number is not finite.
    """
    for name in (JSON_FILE, TEXT_FILE):
        if (path := folder / name).is_file():
            return rewards_of(_text(path), name)
    return None


def rewards_of(text: str, name: str) -> dict[str, float]:
    """The rewards in a file that a verifier left.

    Raises:
        MalformedError: It is empty, no JSON object of numbers or no number, or a number is not finite.
    """
    if not text.strip():
        raise MalformedError(f"{name} is empty")
    return _of_json(text) if name == JSON_FILE else {"reward": _number(text, name)}


def leaderboard_accuracy(rewards: Mapping[str, Sequence[float | None]]) -> HarborAccuracy:
    """Mean and standard error over tasks, from the rewards of all attempts by task.

    A missing reward counts as 0. With p the mean of a task's n attempts, the standard error is
    sqrt(sum of p (1 - p) / (n - 1)) / number of tasks.

    Raises:
        ValueError: No task, or a task without an attempt.
    """
    if not rewards or not all(rewards.values()):
        raise ValueError("a leaderboard needs at least one task, and an attempt of each")
    counts = [len(attempts) for attempts in rewards.values()]
    means = [sum(reward or 0.0 for reward in attempts) / len(attempts) for attempts in rewards.values()]
    error = None
    if min(counts) > 1:
        variances = (mean * (1 - mean) / (count - 1) for mean, count in zip(means, counts, strict=True))
        error = math.sqrt(max(0.0, math.fsum(variances))) / len(means)
    return HarborAccuracy(math.fsum(means) / len(means), error, len(means), sum(counts))


def rewards_by_task(trials: Iterable[Mapping[str, Any]]) -> dict[str, list[float | None]]:
    """The rewards of trials by task, from Harbor's trial results (`task_name`, `verifier_result`).

    Raises:
        MalformedError: A trial has no task's name, or a reward that is not a finite number.
    """
    by_task: dict[str, list[float | None]] = {}
    for trial in trials:
        if not isinstance(name := trial.get("task_name"), str):
            raise MalformedError("a trial has no task_name")
        rewards = (trial.get("verifier_result") or {}).get("rewards") or {}
        value = rewards.get("reward")
        by_task.setdefault(name, []).append(None if value is None else _number(value, f"trial of {name}"))
    return by_task


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise MalformedError(f"{path.name} cannot be read: {error}") from error


def _of_json(text: str) -> dict[str, float]:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise MalformedError(f"{JSON_FILE} is not JSON: {error}") from error
    if not isinstance(value, dict):
        raise MalformedError(f"{JSON_FILE} has no object of rewards by name")
    if texts := [name for name, reward in value.items() if not isinstance(reward, int | float)]:
        raise MalformedError(f"the reward {texts[0]!r} in {JSON_FILE} is not a number: {value[texts[0]]!r}")
    return {name: _number(reward, f"{name!r} in {JSON_FILE}") for name, reward in value.items()}


def _number(value: Any, place: str) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError) as error:
        raise MalformedError(f"the reward is not a number: {value!r} ({place})") from error
    if not math.isfinite(number):
        raise MalformedError(f"the reward is not finite: {value!r} ({place})")
    return number
