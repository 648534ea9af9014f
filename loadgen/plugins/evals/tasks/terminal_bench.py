"""Terminal-Bench: tasks in a terminal, one container each, scored by tests (arXiv:2601.11868).

Task folders of Terminal-Bench 1 and of Harbor (Terminal-Bench 2); see `terminal_tasks`. The
tests come into the container when the agent has ended, also where its time was over.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from loadgen.plugins.agents import terminal
from loadgen.plugins.evals.grading.harbor_reward import rewards_of
from loadgen.plugins.evals.grading.swe_bench.infrastructure import infrastructure_failure
from loadgen.plugins.evals.grading.terminal_pane import is_resolved, results_of_tests
from loadgen.plugins.evals.tasks.benchmarks import benchmark
from loadgen.plugins.evals.tasks.terminal_tasks import TerminalTask, run_tests, terminal_task
from workloads.episode_program import EpisodeProgram, EpisodeSample
from workloads.errors import MalformedError
from workloads.question import Question
from workloads.score import Score, failed, graded, unparsed
from workloads.sources import FileRow

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from loadgen.plugins.agents.episode import Ask, EpisodeResult
    from loadgen.plugins.sandbox.opening import SandboxOnDemand
    from workloads.answer import Answer
    from workloads.scorer import Reference
    from workloads.workload import Inputs

_HARBOR: Final = "harbor"
_NETWORK: Final = "network_unreachable"
_SYSTEM: Final = (
    "You work in a Linux terminal, with the tool `bash`. Do the task without asking questions. When it "
    "is done, answer without calling the tool: then tests decide whether the task is done."
)


def questions(inputs: Inputs) -> Iterator[Question]:
    """One episode a task folder."""
    network = inputs.options["network"]
    for index, row in enumerate(inputs.rows):
        task = terminal_task(Path(row["folder"]))
        episode = EpisodeProgram(
            f"{__name__}:play",
            {"sha256": task.sha256},
            files={"task": row["folder"]},
            sandbox=task.container(network=network),
            finish=f"{__name__}:finish",
            seconds=task.agent_s,
        )
        sample = EpisodeSample(
            index,
            task.instruction,
            _SYSTEM,
            tags={"difficulty": task.difficulty, "category": task.category},
            episode=episode,
        )
        reference = {"kind": task.kind, "sha256": task.sha256, "network": network and task.network}
        yield Question(task.name, sample, reference)


async def play(sample: EpisodeSample, ask: Ask, sandbox: SandboxOnDemand) -> EpisodeResult:
    """Let the model work in the terminal."""
    return await terminal.work(ask, sandbox, sample.messages())


async def finish(sample: EpisodeSample, sandbox: SandboxOnDemand, result: EpisodeResult) -> EpisodeResult:
    """Run the tests in the agent's container; the details have the results."""
    tests = await run_tests(sandbox, _task(sample.episode.files["task"]))
    return replace(result, details={**result.details, "tests": tests.to_dict()})


@cache
def _task(folder: str) -> TerminalTask:
    return terminal_task(Path(folder))


def grade(reference: Reference, answer: Answer) -> Score:
    """1 where all tests passed; of Harbor, the reward."""
    if answer.episode is None or "tests" not in answer.episode.details:
        ending = "not an episode" if answer.episode is None else answer.episode.ending
        return unparsed(f"no tests were run: {ending}")
    tests: Mapping[str, Any] = answer.episode.details["tests"]
    match tests["ending"]:
        case "timed_out":
            return graded(0, reason="test_timeout: the tests took longer than the task allows")
        case "out_of_memory" | "too_much_output" as limit:
            return failed(f"the tests reached a limit of the container: {limit}", output=tests["output"])
    score = _of_rewards(tests) if reference["kind"] == _HARBOR else _of_pane(tests["output"])
    sign = infrastructure_failure(tests["output"])
    if not score.value and not reference["network"] and sign is not None and sign.reason == _NETWORK:
        return failed(
            "the tests need a network, which the container has not: terminal_bench:network=true",
            output=tests["output"],
        )
    return score


def _of_pane(pane: str) -> Score:
    try:
        results = results_of_tests(pane)
    except MalformedError as error:
        return graded(0, reason=f"parse_error: {error}", tests=0.0, passed=0.0)
    wrong = [name for name, passed in results.items() if not passed]
    reason = f"not passed: {', '.join(wrong)}" if wrong else "" if results else "no test was run"
    passed = float(len(results) - len(wrong))
    return graded(is_resolved(results), None, reason, tests=float(len(results)), passed=passed)


def _of_rewards(tests: Mapping[str, Any]) -> Score:
    if tests["rewards"] is None:
        return graded(0, reason="the tests left no reward")
    name, text = tests["rewards"]
    try:
        rewards = rewards_of(text, name)
    except MalformedError as error:
        return failed(f"the verifier failed: {error}", output=tests["output"])
    if "reward" not in rewards:
        return Score(0.0, reason=f"{name} has no `reward`", metrics=rewards)
    return Score(rewards["reward"], extracted=text.strip(), metrics=rewards)


def _folders(path: Path, content: bytes) -> Iterator[FileRow]:
    """The folder of a task, from the task's description file."""
    del content
    yield FileRow(str(path), {"folder": str(path.parent.absolute())})


WORKLOAD: Final = benchmark("terminal_bench", questions, read=_folders, official=grade)
