"""tau2: recorded simulations with their checks, and as episodes with the recorded agents and users.

ACTION and COMMUNICATE by the rules, DB of airline and shop by replay, rewards as products. The parts that
need the world of telecom or a judge are the recorded ones. Actions of tasks are those of the record's checks.
"""

from __future__ import annotations

import gzip
import json
import re
from typing import TYPE_CHECKING, Any, Final

from loadgen.plugins.evals.environments.tau2.world_opening import open_world
from loadgen.plugins.evals.grading.tau2 import ENDED, action_checks, communicate_checks, simulation_reward
from loadgen.plugins.evals.tasks.tau2 import DOMAINS, grade, question_of
from tests.conformance.agreement import Agreement
from tests.plugins.evals.tasks.scripted import ScriptedAsk, calling, played, saying
from workloads.sources import FileRow

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path


NEEDS: Final = ("tau2/retail__db.json.gz", "tau2/inspect_airline__db.json.gz")

_FILES: Final = {
    "retail": {"db": NEEDS[0]},
    "airline": {"db": NEEDS[1]},
    "telecom": {"db": "tau2/telecom__db.toml.gz", "user_db": "tau2/telecom__user_db.toml.gz"},
}
_NO_USER: Final = "dummy_user"
_RELEASE: Final = re.compile(r"(?<=https://errors.pydantic.dev/)[\d.]+")


def agreements(data: Path) -> Iterator[Agreement]:
    """Up to four lines a file of simulations."""
    for path in sorted((data / "tau2").glob("sims_*.json.gz")):
        record = _read(path)
        simulations = record["simulations"]
        name = path.name.removeprefix("sims_").removesuffix(".json.gz")
        yield _agreement(f"tau2/ACTION, {name}", map(_actions_agree, simulations))
        if any(simulation["reward_info"]["communicate_checks"] for simulation in simulations):
            yield _agreement(f"tau2/COMMUNICATE, {name}", map(_texts_agree, simulations))
        domain = name.split("_")[0]
        paths = {table: str(data / file) for table, file in _FILES.get(domain, {}).items()}
        if domain in {"airline", "retail"}:
            checked = [simulation for simulation in simulations if simulation["reward_info"]["db_check"]]
            yield _agreement(f"tau2/DB, {name}", _databases_agree(checked, domain, paths))
        yield _agreement(f"tau2/reward, {name}", map(_rewards_agree, simulations))
        if record["info"]["user_info"]["implementation"] == _NO_USER:
            reason = "were played solo, which no task here does"
            yield Agreement(f"tau2/episodes, {name}", len(simulations), 0, {reason: len(simulations)})
        elif domain in DOMAINS:
            tasks = {task["id"]: task for task in record["tasks"]}
            episodes = [
                _episode(simulation, _task(tasks[simulation["task_id"]], simulation), domain, paths)
                for simulation in simulations
            ]
            yield _agreement(f"tau2/rewards of episodes, {name}", (episode[:2] for episode in episodes))
            observations = [place for episode in episodes for place in episode[2]]
            yield _observed(f"tau2/observations of episodes, {name}", observations)


def _read(path: Path) -> Any:
    with gzip.open(path, "rb") as file:
        return json.loads(file.read())


def _place(simulation: Mapping[str, Any]) -> str:
    return f"task {simulation['task_id']}, trial {simulation['trial']}"


def _actions_agree(simulation: Mapping[str, Any]) -> tuple[str, bool]:
    recorded = simulation["reward_info"]["action_checks"] or ()
    ours = action_checks(simulation["messages"], [check["action"] for check in recorded])
    return _place(simulation), ours == [check["action_match"] for check in recorded]


def _texts_agree(simulation: Mapping[str, Any]) -> tuple[str, bool]:
    recorded = simulation["reward_info"]["communicate_checks"] or ()
    ours = communicate_checks(simulation["messages"], [check["info"] for check in recorded])
    return _place(simulation), ours == [check["met"] for check in recorded]


def _databases_agree(
    simulations: list[Mapping[str, Any]], domain: str, paths: Mapping[str, str]
) -> Iterator[tuple[str, bool]]:
    for simulation in simulations:
        calls = [call for message in simulation["messages"] for call in message.get("tool_calls") or ()]
        checks = simulation["reward_info"]["action_checks"] or ()
        reached, expected = (
            open_world(domain, paths, actions).digest()
            for actions in (calls, [check["action"] for check in checks])
        )
        recorded = simulation["reward_info"]["db_check"]["db_match"]
        yield _place(simulation), (reached == expected) == recorded


def _task(task: Mapping[str, Any], simulation: Mapping[str, Any]) -> FileRow:
    """The task that was played: by its checks, as one record has the tasks of another release."""
    info, criteria = simulation["reward_info"], dict(task["evaluation_criteria"])
    if info["reward_basis"] is not None:
        criteria["actions"] = [check["action"] for check in info["action_checks"] or ()]
        criteria["communicate_info"] = [check["info"] for check in info["communicate_checks"] or ()]
    return FileRow(simulation["task_id"], {**task, "evaluation_criteria": criteria})


def _episode(
    simulation: Mapping[str, Any], task: FileRow, domain: str, paths: Mapping[str, str]
) -> tuple[str, bool, list[tuple[str, str, str]]]:
    """Whether an episode has the recorded reward; and its observations next to the recorded ones."""
    question = question_of(0, domain, task, "", paths)
    messages = simulation["messages"]
    ask = ScriptedAsk(
        [_as_sent(message) for message in messages[1:] if message["role"] == "assistant"],
        [_as_sent(message) for message in messages if message["role"] == "user"],
    )
    place = _place(simulation)
    try:
        reward = grade(question.reference, played(question, ask)).value
    except IndexError:  # the record ends where its own limits ended it
        reward = 0.0
    recorded = [message["content"] for message in messages if message["role"] == "tool"]
    ours = [(record.name, record.result or "") for record in ask.tools]
    observed = [
        (f"{place}: {name}", text, theirs) for (name, text), theirs in zip(ours, recorded, strict=False)
    ]
    return place, reward == simulation["reward_info"]["reward"], observed


def _as_sent(message: Mapping[str, Any]) -> dict[str, Any]:
    """A recorded message in OpenAI's format."""
    calls = [(call["name"], call["arguments"]) for call in message.get("tool_calls") or ()]
    sent = calling(*calls) if calls else saying(message["content"])
    return {**sent, "content": message["content"]}


def _observed(name: str, observations: Sequence[tuple[str, str, str]]) -> Agreement:
    """Observations that are equal; a release of pydantic links to its own pages."""
    wrong = tuple(
        f"{place}: {ours!r}, not {theirs!r}"
        for place, ours, theirs in observations
        if _RELEASE.sub("", ours) != _RELEASE.sub("", theirs)
    )
    return Agreement(name, len(observations), len(observations) - len(wrong), wrong=wrong)


def _rewards_agree(simulation: Mapping[str, Any]) -> tuple[str, bool]:
    """The product of our parts, and of the recorded ones where ours need the world."""
    recorded = simulation["reward_info"]
    parts = dict(recorded["reward_breakdown"] or {})
    if simulation["termination_reason"] in ENDED:
        messages = simulation["messages"]
        actions = [check["action"] for check in recorded["action_checks"] or ()]
        texts = [check["info"] for check in recorded["communicate_checks"] or ()]
        parts["ACTION"] = float(all(action_checks(messages, actions)))
        parts["COMMUNICATE"] = float(all(communicate_checks(messages, texts)))
    reward = simulation_reward(simulation["termination_reason"], recorded["reward_basis"], parts)
    return _place(simulation), reward == recorded["reward"]


def _agreement(name: str, checks: Any) -> Agreement:
    rows = list(checks)
    wrong = tuple(place for place, equal in rows if not equal)
    return Agreement(name, len(rows), len(rows) - len(wrong), wrong=wrong)
