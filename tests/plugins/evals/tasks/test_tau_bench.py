"""tau-bench: an episode with a scripted agent and a scripted user, and its reward."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from loadgen.plugins.evals.tasks.tau_bench import declared_tasks, grade
from tests.plugins.evals.tasks.scripted import ScriptedAsk, calling, played, saying
from workloads.answer import Answer, EpisodeOutcome
from workloads.benchmark import dataset
from workloads.errors import MalformedError, TaskError
from workloads.question_loading import load
from workloads.task import parse

if TYPE_CHECKING:
    from pathlib import Path

    from workloads.question import Question

TASKS = """
from tau_bench.types import Task, Action
TASKS = [
    Task(
        annotator="0",
        user_id="ann",
        instruction="You are Ann, "
        "and want a refund of 1200 dollars.",
        actions=[Action(name="send_certificate", kwargs={"user_id": "ann", "amount": 50})],
        outputs=["1200"],
    ),
]
"""
USERS = {"ann": {"payment_methods": {}, "reservations": []}}
SEND = calling(("send_certificate", {"user_id": "ann", "amount": 50}))
TWICE = calling(*[("send_certificate", {"user_id": "ann", "amount": 50})] * 2)
LOOK = calling(("get_user_details", {"user_id": "ann"}))
TELL = saying("It is $1,200.")
ASKS, STOPS = saying("A refund, please."), saying("###STOP###")


def write_airline(folder: Path) -> None:
    """A database of one user, the policy, and one task."""
    (folder / "airline_tasks_test.py").write_text(TASKS)
    (folder / "airline_wiki.md").write_text("# The policy")
    for name, table in {"flights": {}, "reservations": {}, "users": USERS}.items():
        (folder / f"airline_{name}.json").write_text(json.dumps(table))


@pytest.fixture
def question(tmp_path: Path) -> Question:
    """The task."""
    write_airline(tmp_path)
    (question,) = load(parse("tau_bench:domain=airline"), tmp_path).questions
    return question


@pytest.mark.parametrize(
    ("replies", "users", "value", "reason"),
    [
        ([SEND, TELL], [ASKS, STOPS], 1, ""),
        ([LOOK, TWICE, TELL], [ASKS, STOPS], 1, ""),
        ([SEND, SEND, TELL], [ASKS, STOPS], 0, "another database than after the task's actions"),
        ([TELL], [ASKS, STOPS], 0, "another database than after the task's actions"),
        ([SEND, saying("Done.")], [ASKS, STOPS], 0, "not said: 1200"),
        ([TELL, SEND, calling(("transfer_to_human_agents", {"summary": "x"}))], [ASKS, ASKS], 1, ""),
        ([SEND, calling(("send_certificate", "{"))], [ASKS], 0, "neither the user nor the agent"),
        ([LOOK] * 30, [ASKS], 0, "neither the user nor the agent"),
    ],
)
def test_episodes(
    question: Question, replies: list[Any], users: list[Any], value: float, reason: str
) -> None:
    """The database and what was said decide; of a message's calls the first counts."""
    ask = ScriptedAsk(replies, users)
    score = grade(question.reference, played(question, ask))
    assert (score.value, score.reason[: len(reason)]) == (value, reason)
    assert not ask.replies
    assert not ask.users


def test_what_each_side_sees(question: Question) -> None:
    """The agent has the policy, and the user the task; neither sees the other's."""
    ask = ScriptedAsk([LOOK, TELL], [ASKS, STOPS])
    played(question, ask)
    last = ask.requests[-1].messages
    assert [message["role"] for message in last] == ["system", "user", "assistant", "tool"]
    assert last[0]["content"] == "# The policy"
    assert json.loads(last[-1]["content"]) == USERS["ann"]
    user = ask.user_requests[-1].messages
    assert [message["role"] for message in user] == ["system", "user", "assistant", "user"]
    assert "You are Ann, and want a refund" in user[0]["content"]
    assert user[-1]["content"] == TELL["content"]


def test_an_episode_without_an_end(question: Question) -> None:
    """One that a limit has cut counts as wrong."""
    assert grade(question.reference, Answer("", episode=EpisodeOutcome("max_turns"))).status == "unparsed"


def test_the_same_data_elsewhere(question: Question, tmp_path: Path) -> None:
    """The checksum of what is asked does not depend on the folder."""
    del question
    other = tmp_path / "tau_bench" / "other"
    other.mkdir(parents=True)
    write_airline(other)
    tasks = [parse("tau_bench:domain=airline")]
    assert dataset(tasks, tmp_path).sha256 == dataset(tasks, other).sha256


def test_tasks_that_cannot_be_read(tmp_path: Path) -> None:
    """Python is not run: only literals are read."""
    source = b"TASKS = [Task(instruction=open('secret').read())]"
    with pytest.raises(MalformedError, match="no tasks that can be read"):
        list(declared_tasks(tmp_path / "tasks_test.py", source))
    write_airline(tmp_path)
    with pytest.raises(TaskError, match="did you mean 'retail'"):
        load(parse("tau_bench:domain=retai"), tmp_path)
