"""tau2: an episode with a scripted agent and a scripted user, and the parts of its reward."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from loadgen.plugins.evals.tasks.tau2 import ask as ask_judge
from loadgen.plugins.evals.tasks.tau2 import grade
from tests.plugins.evals.tasks.scripted import ScriptedAsk, calling, played, saying
from tests.plugins.evals.tau2_worlds import AIRLINE, BOOKING, world_of
from workloads.answer import Answer, EpisodeOutcome
from workloads.errors import TaskError
from workloads.question_loading import load
from workloads.task import parse

if TYPE_CHECKING:
    from pathlib import Path

    from workloads.question import Question

CERTIFICATE = {"user_id": "ann", "amount": 50}


def task(identifier: str, basis: list[str], **criteria: Any) -> dict[str, Any]:
    """A task as the repository has it."""
    instructions = {
        "domain": "airline",
        "reason_for_call": "You want a refund.",
        "known_info": "You are Ann.",
        "unknown_info": None,
        "task_instructions": "Be brief.",
    }
    actions = [{"action_id": "0", "name": "send_certificate", "arguments": CERTIFICATE, "info": None}]
    return {
        "id": identifier,
        "user_scenario": {"persona": None, "instructions": instructions},
        "initial_state": None,
        "evaluation_criteria": {"actions": actions, "reward_basis": basis, **criteria},
    }


TASKS = [
    task("0", ["DB", "COMMUNICATE"], communicate_info=["1200"]),
    task("1", ["ACTION"]),
    task("2", ["NL_ASSERTION"], nl_assertions=["The agent is kind.", "The agent is brief."]),
    task("3", ["DB"]),
]


def write_airline(folder: Path) -> None:
    """The data of these tasks, with a database of one user."""
    (folder / "airline__tasks.json").write_text(json.dumps(TASKS))
    (folder / "airline__split_tasks.json").write_text(json.dumps({"base": ["0", "1", "2"], "test": ["3"]}))
    (folder / "airline__policy.md").write_text("# The policy")
    (folder / "airline__db.json").write_text(json.dumps(AIRLINE))


@pytest.fixture
def questions(tmp_path: Path) -> dict[str, Question]:
    """Those of the base split, by their ids."""
    write_airline(tmp_path)
    loaded = load(parse("tau2:domain=airline"), tmp_path).questions
    return {question.id: question for question in loaded}


SEND = calling(("send_certificate", CERTIFICATE))
TELL = saying("It is $1,200.")
ASKS, STOPS = saying("A refund, please."), saying("Thanks. ###STOP###")


@pytest.mark.parametrize(
    ("number", "replies", "users", "value", "reason"),
    [
        (0, [SEND, TELL], [ASKS, STOPS], 1, ""),
        (0, [TELL], [ASKS, STOPS], 0, "DB"),
        (0, [SEND, saying("Done.")], [ASKS, STOPS], 0, "COMMUNICATE"),
        (0, [SEND, TELL], [ASKS, saying("###OUT-OF-SCOPE###")], 1, ""),
        (0, [calling(("fly", {}))] * 10, [ASKS], 0, "COMMUNICATE, DB"),
        (0, [SEND, TELL, saying(" ")], [ASKS, ASKS], 0, "ended by assistant_error"),
        (0, [SEND, TELL, calling(("calculate", "{"))], [ASKS, ASKS], 0, "ended by assistant_error"),
        (
            1,
            [calling(("calculate", {"expression": "1"}), ("send_certificate", CERTIFICATE)), TELL],
            [ASKS, STOPS],
            1,
            "",
        ),
        (1, [TELL], [ASKS, STOPS], 0, "ACTION"),
    ],
)
def test_episodes(
    questions: dict[str, Question],
    number: int,
    replies: list[Any],
    users: list[Any],
    value: float,
    reason: str,
) -> None:
    """The parts that a task names are multiplied, where the user has ended the conversation."""
    question = questions[f"airline_{number}"]
    ask = ScriptedAsk(replies, users)
    score = grade(question.reference, played(question, ask))
    assert (score.value, score.reason) == (value, reason)
    assert not ask.replies
    assert not ask.users


def test_what_each_side_sees(questions: dict[str, Question]) -> None:
    """The agent greets, and has the policy; the user has the scenario; the split leaves tasks out."""
    assert set(questions) == {"airline_0", "airline_1", "airline_2"}
    ask = ScriptedAsk([SEND, TELL], [ASKS, STOPS])
    played(questions["airline_0"], ask)
    last = ask.requests[-1].messages
    assert [message["role"] for message in last] == ["system", "assistant", "user", "assistant", "tool"]
    assert last[0]["content"].endswith("<policy>\n# The policy\n</policy>")
    user = ask.user_requests[-1].messages
    assert [message["role"] for message in user] == ["system", "user", "assistant", "user"]
    assert "\tReason for call:\n\t\tYou want a refund.\n\tKnown info:\n\t\tYou are Ann." in user[0]["content"]
    assert not ask.user_requests[-1].tools


def test_a_judge(questions: dict[str, Question]) -> None:
    """Where the reward takes one, it is asked about all assertions at once; others take none."""
    question = questions["airline_2"]
    answer = played(question, ScriptedAsk([TELL], [ASKS, STOPS]))
    (inquiry,) = ask_judge(question.reference, answer)
    assert "assistant: It is $1,200." in inquiry.messages[1]["content"]
    assert grade(question.reference, answer).status == "judge_pending"
    for verdicts, value in (([True, True], 1), ([True, False], 0)):
        reply = json.dumps({"results": [{"metExpectation": met} for met in verdicts]})
        judged = replace(answer, judged={inquiry.key: f"```json\n{reply}\n```"})
        assert grade(question.reference, judged).value == value
    for reply in ("yes", '{"results": []}', '{"results": [1]}'):
        assert grade(question.reference, replace(answer, judged={inquiry.key: reply})).status == "infra_error"
    assert ask_judge(questions["airline_0"].reference, answer) == ()


def test_an_episode_without_an_end(questions: dict[str, Question]) -> None:
    """One that a limit has cut counts as wrong."""
    reference = questions["airline_0"].reference
    assert grade(reference, Answer("", episode=EpisodeOutcome("max_turns"))).status == "unparsed"


def test_a_domain_that_there_is_not(tmp_path: Path, questions: dict[str, Question]) -> None:
    """It is named with the nearest."""
    del questions
    with pytest.raises(TaskError, match="did you mean 'retail'"):
        load(parse("tau2:domain=retai"), tmp_path)


def test_what_tau2_changed_in_the_airline() -> None:
    """A booking takes seats, a change of flights keeps its cabin, and refusals have names."""
    world = world_of("airline")

    def call(name: str, **arguments: Any) -> str:
        return world.call("assistant", name, arguments).text

    booked = json.loads(call("book_reservation", **BOOKING))
    assert list(booked["flights"][0]) == ["flight_number", "origin", "destination", "date", "price"]
    assert booked["status"] is None
    (flight,) = json.loads(call("search_direct_flight", origin="JFK", destination="ORD", date="2024-05-20"))
    assert flight["available_seats"] == {"economy": 1}
    assert call("get_flight_status", flight_number="F1", date="2024-05-20") == "available"
    assert call("get_flight_status", flight_number="F2", date="2024-05-20") == "Error: Flight F2 not found"
    assert call("get_user_details", user_id="bob") == "Error: User bob not found"
    assert call("get_reservation_details", reservation_id="X") == "Error: Reservation X not found"
    assert call("think", thought="x") == "Error: Tool 'think' not found."
    assert json.loads(call("list_all_airports"))[0] == {"iata": "SFO", "city": "San Francisco"}
