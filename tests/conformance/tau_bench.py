"""tau-bench: recorded trajectories of gpt-4o in the airline, replayed with our tools.

Observations must be equal byte for byte, hashes of the databases after the tasks' actions and rewards too.
The record is of commit 7362a17, where a task with outputs did not check the database; rewards agree.
"""

from __future__ import annotations

import gzip
import json
from itertools import groupby
from statistics import mean
from typing import TYPE_CHECKING, Any, Final

from loadgen.plugins.evals.environments.tau.airline import airline_tools
from loadgen.plugins.evals.environments.tau.reward import act, database_hash, reward_of, table_text
from loadgen.plugins.evals.tasks.tau_bench import grade, question_of
from reporter.accuracy.repeated import all_of
from tests.conformance.agreement import Agreement
from tests.plugins.evals.tasks.scripted import ScriptedAsk, played
from workloads.sources import FileRow

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

    from loadgen.plugins.agents.toolset import State

NEEDS: Final = (
    "tau_bench/gpt-4o-airline.jsonl.gz",
    "tau_bench/airline_flights.json.gz",
    "tau_bench/airline_reservations.json.gz",
    "tau_bench/airline_users.json.gz",
)

_TOOLS: Final = airline_tools()
_ATTEMPTS: Final = 4


def agreements(data: Path) -> Iterator[Agreement]:
    """Observations, hashes, rewards and pass^k, and the shortcut that compares the names of tools."""
    with gzip.open(data / NEEDS[0], "rt", encoding="utf-8", newline="\n") as lines:
        records = [json.loads(line) for line in lines]
    tables = {
        path.split("_")[-1].split(".")[0]: gzip.decompress((data / path).read_bytes()) for path in NEEDS[1:]
    }
    flights = json.loads(tables.pop("flights"))
    texts = {"flights": table_text(flights)}
    observations, hashes, rewards, names = [], [], [], []
    for task_id, of_task in groupby(sorted(records, key=_task), key=_task):
        trials = list(of_task)
        expected = act(_TOOLS, _fresh(tables, flights), trials[0]["info"]["task"]["actions"])
        recorded = {_recorded_hash(record) for record in trials} - {None}
        if recorded:
            hashes.append((f"task {task_id}", recorded == {database_hash(expected, texts)}))
        for record in trials:
            place = f"task {task_id}, trial {record['trial']}"
            state = _fresh(tables, flights)
            observations += [
                (f"{place}: {theirs}", ours == theirs) for ours, theirs in _replayed(record, state)
            ]
            rewards.append((place, _reward(record, state, expected) == record["reward"]))
            names.append((place, _same_names(record) == (record["reward"] == 1)))
    yield _agreement("tau_bench/official, observations of tools", observations)
    yield _agreement("tau_bench/official, hashes after the tasks' actions", hashes)
    yield _agreement("tau_bench/official, rewards", rewards)
    yield _agreement("tau_bench/official, rewards of episodes", _episodes(records, data))
    yield _pass_hat_k(records)
    yield _agreement("tau_bench, the names of tools in order", names, shortcut=True)


def _task(record: Mapping[str, Any]) -> int:
    return int(record["task_id"])


def _recorded_hash(record: Mapping[str, Any]) -> str | None:
    judged = record["info"].get("reward_info") or {}
    recorded: str | None = judged.get("info", {}).get("gt_data_hash")
    return recorded


def _fresh(tables: Mapping[str, bytes], flights: Any) -> State:
    """Its own database; no tool changes the flights."""
    return {"flights": flights} | {name: json.loads(text) for name, text in tables.items()}


def _replayed(record: Mapping[str, Any], state: State) -> Iterator[tuple[str, str]]:
    """Our observation and the recorded one of each call."""
    for message, reply in zip(record["traj"], record["traj"][1:], strict=False):
        if message.get("tool_calls"):
            call = message["tool_calls"][0]["function"]
            yield _TOOLS.observe(state, call["name"], call["arguments"]), reply["content"]


def _reward(record: Mapping[str, Any], state: State, expected: State) -> float:
    ended = record["traj"][-1]["role"] == "tool" or "###STOP###" in record["traj"][-1]["content"]
    replies = [
        message["content"]
        for message in record["traj"]
        if message["role"] == "assistant" and not message.get("tool_calls")
    ]
    outputs = record["info"]["task"]["outputs"]
    return reward_of(state, expected, replies, outputs).value if ended else 0.0


def _episodes(records: list[Any], data: Path) -> Iterator[tuple[str, bool]]:
    """Whether an episode with the recorded agent and user has the recorded observations and reward."""
    files = {path.split("_")[-1].split(".")[0]: str(data / path) for path in NEEDS[1:]}
    for record in records:
        system, *others = record["traj"]
        task = record["info"]["task"]
        row = FileRow(f"task {record['task_id']}", task)
        question = question_of(0, "", "airline", row, system["content"], files)
        ask = ScriptedAsk(
            [message for message in others if message["role"] == "assistant"],
            [message for message in others if message["role"] == "user"],
        )
        answer = played(question, ask)
        reward = grade(question.reference, answer).value
        recorded = [message["content"] for message in others if message["role"] == "tool"]
        same = [record.result for record in ask.tools] == recorded
        yield f"task {record['task_id']}, trial {record['trial']}", same and reward == record["reward"]


def _same_names(record: Mapping[str, Any]) -> bool:
    calls = [message["tool_calls"][0] for message in record["traj"] if message.get("tool_calls")]
    called = [call["function"]["name"] for call in calls]
    return called == [action["name"] for action in record["info"]["task"]["actions"]]


def _pass_hat_k(records: list[Any]) -> Agreement:
    """From four recorded attempts a task: pass^4 is the share of tasks with four rewards, pass^1 the mean."""
    by_task: dict[int, list[float]] = {}
    for record in records:
        by_task.setdefault(record["task_id"], []).append(record["reward"])
    counts = [int(sum(rewards)) for rewards in by_task.values()]
    checks = [
        (1, mean(record["reward"] for record in records)),
        (_ATTEMPTS, mean(count == _ATTEMPTS for count in counts)),
    ]
    rows = [
        (f"k={k}", abs(mean(all_of(_ATTEMPTS, count, k) for count in counts) - expected) < 1e-12)
        for k, expected in checks
    ]
    return _agreement("tau_bench/pass^k", rows)


def _agreement(name: str, checks: Iterable[tuple[str, bool]], *, shortcut: bool = False) -> Agreement:
    rows = list(checks)
    wrong = tuple(place for place, equal in rows if not equal)
    return Agreement(name, len(rows), len(rows) - len(wrong), wrong=wrong, shortcut=shortcut)
