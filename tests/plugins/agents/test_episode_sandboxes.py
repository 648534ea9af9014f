"""Sandboxes of episodes: who is given which, when they open, and what a benchmark does around an episode."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from loadgen.driver.requests.turn_outcome import TurnOutcome
from loadgen.plugins.agents.episode import EpisodeResult
from loadgen.plugins.agents.episode_plan import EpisodeLimits, EpisodePlan
from loadgen.plugins.agents.runner import EpisodeRunner
from recorder.event import EventType
from tests.containers.daemon import IMAGE, docker_client
from workloads.episode_program import EpisodeProgram, EpisodeSample
from workloads.sample import Sample
from workloads.sandbox_contract import SandboxSpec

if TYPE_CHECKING:
    from collections.abc import Mapping

    from recorder.event import Event

HERE = __name__
PROGRAM = EpisodeProgram(f"{HERE}:shell", {"command": "cat made"}, sandbox=SandboxSpec())
SAMPLE = EpisodeSample(0, "go", episode=PROGRAM)
WELL = TurnOutcome(None, 1.0, 1, answer={"role": "assistant", "content": "well"})


async def shell(sample: EpisodeSample, ask: Any, sandbox: Any) -> EpisodeResult:
    """An agent that runs a command after its first turn."""
    reply = await ask(sample.messages())
    command = sample.episode.data.get("command", "uname")
    with ask.tool("sh", command) as call:
        result = await sandbox.exec(command)
        call.result = result.stdout
    return EpisodeResult([reply.message], details={"output": result.stdout, "code": result.exit_code})


async def lazy(sample: Sample, ask: Any, sandbox: Any) -> EpisodeResult:
    """An agent that runs none."""
    del sandbox
    return EpisodeResult([(await ask(sample.messages())).message])


async def endless(sample: Sample, ask: Any, sandbox: Any) -> EpisodeResult:
    """An agent that never stops."""
    await sandbox.exec("echo half > made")
    while True:
        await ask(sample.messages())


async def make(sample: Sample, sandbox: Any) -> None:
    """What a benchmark puts into the sandbox first."""
    del sample
    await sandbox.put_files({"made": b"by setup"})


async def look(sample: Sample, sandbox: Any, result: EpisodeResult) -> EpisodeResult:
    """What it looks at last."""
    del sample
    left = (await sandbox.exec("cat made")).stdout.strip()
    return replace(result, reward=float(left == "by setup"), details={**result.details, "left": left})


class Turns:
    """Answers each turn.

    Args:
        outcome: The outcome of each.
    """

    def __init__(self, outcome: TurnOutcome = WELL) -> None:
        self._outcome = outcome

    async def __call__(
        self, sample: Sample, more: Mapping[str, Any], members: Any, asked_ns: int
    ) -> TurnOutcome:
        """Say well."""
        del sample, more, members, asked_ns
        return self._outcome

    async def user(self, sample: Sample, more: Mapping[str, Any]) -> TurnOutcome:
        """Say bye."""
        del sample, more
        return TurnOutcome(None, 1.0, 1, answer={"role": "assistant", "content": "bye"})


def played(plan: EpisodePlan, sample: Sample = SAMPLE, outcome: TurnOutcome = WELL) -> dict[str, Any]:
    """The end of an episode, as the log gets it."""
    events: list[Event] = []

    async def play() -> None:
        asked = plan.played(sample)
        assert asked is not None
        await EpisodeRunner(plan, events.append, str).play(asked, Turns(outcome), "performance", 0, 0)

    asyncio.run(play())
    (end,) = (event.data for event in events if event.type is EventType.EPISODE_ENDED)
    return dict(end or {})


def test_a_benchmark_before_and_after_an_episode() -> None:
    """Its files are there, its tests see what is left, and their result is the reward."""
    program = replace(PROGRAM, setup=f"{HERE}:make", finish=f"{HERE}:look")
    end = played(EpisodePlan(sandbox=SandboxSpec()), replace(SAMPLE, episode=program))
    assert (end["ending"], end["reward"]) == ("completed", 1.0)
    assert end["texts"]["details"] == {"output": "by setup", "code": 0, "left": "by setup"}
    plan = EpisodePlan(agent=f"{HERE}:endless", sandbox=SandboxSpec(), limits=EpisodeLimits(turns=2))
    end = played(plan, replace(SAMPLE, episode=program))
    assert (end["ending"], end["reward"], end["texts"]["details"]) == ("max_turns", 0.0, {"left": "half"})
    assert end["texts"]["messages"][-1]["content"] == "well"


@pytest.mark.parametrize(
    ("agent", "sandbox", "ending", "reason"),
    [
        ("shell", SandboxSpec(), "completed", "stop"),
        ("shell", None, "sandbox_error", "--allow-code-execution"),
        ("lazy", None, "completed", "stop"),
        # It would not open: an agent that does not use it does not notice.
        ("lazy", SandboxSpec("docker", image="/no.tar"), "completed", "stop"),
    ],
)
def test_an_agent_has_the_sandbox_of_the_session(
    agent: str, sandbox: SandboxSpec | None, ending: str, reason: str
) -> None:
    """It opens when it is used; without permission its use ends the episode."""
    end = played(EpisodePlan(agent=f"{HERE}:{agent}", sandbox=sandbox), Sample(0, "go"))
    assert end["ending"] == ending
    assert reason in end["reason"]


def test_which_sandbox_an_episode_has() -> None:
    """That of the session, but for a benchmark with its own image."""
    mine, theirs = SandboxSpec("docker", image="mine"), SandboxSpec("docker", image="theirs", read_only=False)
    plan = EpisodePlan(sandbox=mine)

    def wanting(spec: SandboxSpec | None) -> EpisodeProgram:
        return EpisodeProgram("x:y", sandbox=spec)

    assert plan.sandbox_of(wanting(theirs)) == theirs
    assert plan.sandbox_of(wanting(SandboxSpec(network=True))) == replace(mine, network=True)
    assert plan.sandbox_of(wanting(None)) is None
    assert replace(plan, agent="x:y").sandbox_of(wanting(None)) == mine
    assert replace(plan, agent="x:y", sandbox=None).sandbox_of(wanting(None)) is None


@pytest.mark.docker
def test_an_agent_in_a_container() -> None:
    """Its commands run there."""
    docker_client().close()
    plan = EpisodePlan(agent=f"{HERE}:shell", sandbox=SandboxSpec("docker", image=IMAGE))
    end = played(plan, replace(SAMPLE, episode=replace(PROGRAM, data={"command": "hostname"})))
    assert end["texts"]["details"] == {"output": "sandbox\n", "code": 0}
