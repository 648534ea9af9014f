"""BFCL of several turns: an episode with a scripted model, and the rule on what it leaves."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from loadgen.plugins.evals.tasks.bfcl_multi_turn import grade
from tests.plugins.evals.tasks.scripted import ScriptedAsk, calling, played, saying
from workloads.answer import Answer, EpisodeOutcome
from workloads.errors import TaskError
from workloads.question_loading import load
from workloads.task import parse

if TYPE_CHECKING:
    from pathlib import Path

    from workloads.question import Question

pytest.importorskip("bfcl_eval")
pytest.importorskip("mpmath")

WORLD = {"root": {"home": {"type": "directory", "contents": {"a.txt": {"type": "file", "content": "b\na"}}}}}
RIGHT = [["touch(file_name='new.txt')"], [], ["sort('a.txt')"]]


def function(name: str, *required: str) -> dict[str, Any]:
    """The description of a function of texts."""
    properties = {name: {"type": "string", "description": "a name"} for name in required}
    return {
        "name": name,
        "description": "It works.",
        "parameters": {"type": "dict", "properties": properties, "required": list(required)},
    }


@pytest.fixture
def question(tmp_path: Path) -> Question:
    """Three turns; in the second, `sort` is not there, and it comes with the third."""
    entry = {
        "id": "multi_turn_miss_func_0",
        "question": [[{"role": "user", "content": text}] for text in ("touch new", "sort")] + [[]],
        "initial_config": {"GorillaFileSystem": WORLD},
        "involved_classes": ["GorillaFileSystem"],
        "missed_function": {"2": ["sort"]},
    }
    answer = {"id": entry["id"], "ground_truth": RIGHT}
    (tmp_path / "BFCL_v4_multi_turn_miss_func.json").write_text(json.dumps(entry))
    (tmp_path / "possible_answer__BFCL_v4_multi_turn_miss_func.json").write_text(json.dumps(answer))
    functions = [function("touch", "file_name"), function("sort", "file_name")]
    from loadgen.plugins.evals.environments.bfcl.services import MODULES

    for module in MODULES.values():
        lines = map(json.dumps, functions)
        (tmp_path / f"multi_turn_func_doc__{module}.json").write_text("\n".join(lines))
    (question,) = load(parse("bfcl_multi_turn:category=miss_func"), tmp_path).questions
    return question


TOUCH = calling(("touch", {"file_name": "new.txt"}))
SORT = calling(("sort", {"file_name": "a.txt"}))
DONE = saying("Done.")


@pytest.mark.parametrize(
    ("replies", "fault"),
    [
        ([TOUCH, DONE, DONE, SORT, DONE], ""),
        ([TOUCH, SORT, DONE, DONE, SORT, DONE], ""),
        ([DONE, DONE, SORT, DONE], "empty_turn_model_response: no call in turn 1"),
        ([TOUCH, DONE, TOUCH, DONE, calling(("touch", {"file_name": "c"})), DONE], "instance_state_mismatch"),
        ([TOUCH, DONE, DONE, calling(("sort", {"file_name": "no"})), DONE], "execution_response_mismatch"),
        ([TOUCH, DONE, DONE, calling(("sort", "{"))], "empty_turn_model_response: no call in turn 3"),
        ([SORT] * 21, "force_terminated: 1 of 3 turns"),
    ],
)
def test_conversations(question: Question, replies: list[dict[str, Any]], fault: str) -> None:
    """State and results after each turn decide; more results than are due do no harm."""
    ask = ScriptedAsk(replies)
    answer = played(question, ask)
    score = grade(question.reference, answer)
    assert (score.value, score.reason[: len(fault)]) == (not fault, fault)
    assert not ask.replies, "the model was asked as often as was expected"


def test_a_function_that_comes_later(question: Question) -> None:
    """It is a tool from its turn on, and the user says so."""
    ask = ScriptedAsk([TOUCH, DONE, DONE, SORT, DONE])
    played(question, ask)
    names = [[tool["function"]["name"] for tool in request.tools] for request in ask.requests]
    assert names == [["touch"]] * 3 + [["touch", "sort"]] * 2
    assert ask.requests[3].messages[-1]["content"].startswith("I have updated some more functions")
    assert ask.requests[1].messages[-1] == {"role": "tool", "tool_call_id": "0", "content": "None"}


def test_an_episode_without_an_end(question: Question) -> None:
    """One that a limit has cut counts as wrong."""
    score = grade(question.reference, Answer("", episode=EpisodeOutcome("max_turns")))
    assert (score.value, score.status) == (0, "unparsed")


def test_a_category_that_there_is_not(tmp_path: Path) -> None:
    """It is named with the nearest."""
    (tmp_path / "x").touch()
    with pytest.raises(TaskError, match="did you mean 'base'"):
        list(parse("bfcl_multi_turn:category=bas").workload.questions(_inputs()))


def _inputs() -> Any:
    from workloads.workload import Inputs

    return Inputs(iter(()), lambda _: (), {"category": "bas"})
