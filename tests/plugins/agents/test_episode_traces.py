"""The traces of episodes, and benchmarks that react to answers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import orjson

from loadgen.plugins.agents.dialogue import reacting_to
from loadgen.plugins.agents.episode_plan import EpisodePlan
from tests.plugins.agents.test_episode_sandboxes import SAMPLE, played
from workloads.episode_program import EpisodeSample
from workloads.sandbox_contract import SandboxSpec

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path


def asks_twice(row: Mapping[str, Any], conversation: Sequence[Mapping[str, Any]]) -> str | None:
    """A benchmark that wants its row's number of answers."""
    answers = sum(message["role"] == "assistant" for message in conversation)
    return f"Answer {answers + 1}." if answers < row["answers"] else None


def test_a_benchmark_reacts_to_answers() -> None:
    """What its hook returns is what the user says next, until it returns nothing."""
    end = played(EpisodePlan(), EpisodeSample(0, "go", episode=reacting_to(asks_twice, {"answers": 3})))
    texts = [message["content"] for message in end["texts"]["messages"]]
    assert texts == ["go", "well", "Answer 2.", "well", "Answer 3.", "well"]


def test_a_trace_has_turns_tools_and_the_end(tmp_path: Path) -> None:
    """In order, in a file of the run's folder; without the option there is none."""
    plan = EpisodePlan(sandbox=SandboxSpec(), debug=True)
    assert played(plan.in_folder(tmp_path), SAMPLE)["ending"] == "completed"
    (path,) = (tmp_path / "debug").iterdir()
    events = [orjson.loads(line) for line in path.read_bytes().splitlines()]
    assert [event["event"] for event in events] == ["turn", "tool", "end"]
    assert (events[0]["messages"][0]["content"], events[1]["arguments"]) == ("go", "cat made")
    assert {event["rollout_id"] for event in events} == {path.stem}
    assert EpisodePlan().in_folder(tmp_path) == EpisodePlan()
