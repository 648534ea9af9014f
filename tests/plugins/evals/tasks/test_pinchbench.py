"""PinchBench: task files, an episode in a sandbox with its checks, and the arithmetic of its grades."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from loadgen.plugins.evals.grading.pinchbench import (
    check_program,
    check_scores,
    combined,
    summary,
    total_in,
    transcript_of,
)
from loadgen.plugins.evals.tasks import pinchbench
from loadgen.plugins.evals.tasks.pinchbench import parse_task
from loadgen.plugins.sandbox.opening import async_sandbox
from tests.plugins.evals.tasks.scripted import ScriptedAsk, calling, saying
from workloads.answer import Answer, EpisodeOutcome
from workloads.catalog import workload
from workloads.episode_program import EpisodeSample
from workloads.errors import MalformedError, SourceError
from workloads.question_loading import load
from workloads.score import JUDGE_REPLY, Status
from workloads.task import parse

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from loadgen.plugins.agents.episode import EpisodeResult
    from workloads.question import Question

CHECKS = """
def grade(transcript: list, workspace_path: str) -> dict:
    from pathlib import Path
    import os
    text = (Path(workspace_path) / "sum.txt").read_text()
    parts = [part for event in transcript for part in event["message"]["content"]]
    calls = [part for part in parts if part["type"] == "toolCall"]
    print("a line of the checks")
    is_right = float(text.strip() == "5")
    return {"right": is_right, "calls": len(calls) == 1, "note": "text", "pid": os.getpid() * 0}
"""
HEAD = """---
id: {name}
name: Adding
category: files
grading_type: {kind}
timeout_seconds: 30
{more}workspace_files:
  - path: numbers.txt
    content: |
      2
      3
  - source: help.txt
    dest: docs/help.txt
---

## Prompt

Add the numbers and write the sum to sum.txt.

## Expected Behavior

The sum is 5.

## Grading Criteria

- [ ] The sum is right
- [x] One call
"""


def task_file(name: str, kind: str, *, checks: str = CHECKS, more: str = "", rubric: str = "") -> str:
    """The text of a task."""
    parts = [HEAD.format(name=name, kind=kind, more=more)]
    if checks:
        parts.append(f"## Automated Checks\n\n```python\n{checks}\n```\n")
    if rubric:
        parts.append(f"## LLM Judge Rubric\n\n{rubric}\n")
    return "\n".join(parts)


@pytest.fixture
def clone(tmp_path: Path) -> Callable[..., Mapping[str, Question]]:
    """Loads tasks from a folder like the repository, by their names."""

    def load_tasks(**texts: str) -> Mapping[str, Question]:
        (tmp_path / "tasks").mkdir()
        (tmp_path / "assets").mkdir()
        (tmp_path / "assets" / "help.txt").write_text("Add them.")
        for name, text in texts.items():
            (tmp_path / "tasks" / f"task_{name}.md").write_text(text)
        return {question.id: question for question in load(parse("pinchbench"), tmp_path).questions}

    return load_tasks


def played(question: Question, *replies: dict[str, Any]) -> Answer:
    """The episode of a question with a scripted model, in a sandbox of this machine."""

    async def play() -> EpisodeResult:
        assert isinstance(question.sample, EpisodeSample)
        assert question.sample.episode.sandbox is not None
        async with async_sandbox(question.sample.episode.sandbox) as sandbox:
            await pinchbench.setup(question.sample, sandbox)  # type: ignore[arg-type]
            result = await pinchbench.play(question.sample, ScriptedAsk(list(replies)), sandbox)  # type: ignore[arg-type]
            return await pinchbench.finish(question.sample, sandbox, result)  # type: ignore[arg-type]

    result = asyncio.run(play())
    details = json.loads(json.dumps(dict(result.details)))
    return Answer("", episode=EpisodeOutcome("completed", None, tuple(result.messages), details))


def bash(command: str) -> dict[str, Any]:
    """A call of the tool."""
    return calling(("bash", {"command": command}))


def test_checks_run_where_the_agent_worked(clone: Callable[..., Mapping[str, Question]]) -> None:
    """Its files are there, an asset too; the mean is of numbers alone, and truth values are such."""
    question = clone(add=task_file("task_add", "automated"))["task_add"]
    answer = played(question, bash("cat docs/help.txt; echo 5 > sum.txt"), saying("Done."))
    assert answer.episode is not None
    assert "Add them." in str(answer.episode.messages)
    score = pinchbench.grade(question.reference, answer)
    assert score.value == pytest.approx(2 / 3)
    assert (score.extracted, score.reason) == ("right 1, calls 1, pid 0", "pid")
    assert pinchbench.passes(question.reference, answer).value == 1
    wrong = played(question, bash("echo 6 > sum.txt"), saying("Done."))
    assert pinchbench.grade(question.reference, wrong).value == pytest.approx(1 / 3)
    assert pinchbench.passes(question.reference, wrong).value == 0


def test_checks_that_fail(clone: Callable[..., Mapping[str, Question]]) -> None:
    """Officially that is 0; without Python nothing is known. What was never checked is wrong."""
    question = clone(add=task_file("task_add", "automated"))["task_add"]
    none = pinchbench.grade(question.reference, played(question, saying("I will not.")))
    assert (none.value, none.status) == (0, Status.SCORED)
    assert none.reason.startswith("the checks fail: FileNotFoundError")
    lacking = {"scores": None, "exit_code": 127, "ending": "exited", "error": "python3: not found"}
    outcome = EpisodeOutcome("completed", details={"checks": lacking})
    assert pinchbench.grade(question.reference, Answer("", episode=outcome)).status is Status.INFRA_ERROR
    cut = EpisodeOutcome("cut")
    assert pinchbench.grade(question.reference, Answer("", episode=cut)).status is Status.UNPARSED


def test_judged_and_hybrid_tasks(clone: Callable[..., Mapping[str, Question]]) -> None:
    """The judge sees calls and beginnings of results; both parts count by the task's weights."""
    weights = "grading_weights:\n  automated: 0.75\n  llm_judge: 0.25\n"
    questions = clone(
        judge=task_file("task_judge", "llm_judge", checks="", rubric="Is it right?"),
        both=task_file("task_both", "hybrid", more=weights),
    )
    scorer = workload("pinchbench").scorers[0]
    assert scorer.ask is not None
    both = questions["task_both"]
    answer = played(both, bash("echo 5 > sum.txt; seq 1000"), saying("Done."))
    (inquiry,) = scorer.ask(both.reference, answer)
    prompt = inquiry.messages[0]["content"]
    assert "## Grading Rubric\n- The sum is right\n- One call\n" in prompt
    assert "Tool: bash({\"command\": \"echo 5 > sum.txt; seq 1000\"})\nResult: {'type': 'text'" in prompt
    assert "100\n" not in prompt.partition("Result: ")[2].partition("## Grading")[0]
    assert scorer.grade(both.reference, answer).status is Status.JUDGE_PENDING
    judged = replace(answer, judged={"grade": '{"scores": {"a": 0.2}, "total": 0.4}'})
    assert scorer.grade(both.reference, judged).value == pytest.approx(0.75 * 2 / 3 + 0.25 * 0.4)
    unread = scorer.grade(both.reference, replace(answer, judged={"grade": "Good work!"}))
    assert unread.value == pytest.approx(0.5)
    assert unread.details[JUDGE_REPLY] == "Good work!"
    judge = questions["task_judge"]
    silent = played(judge, saying("5"))
    assert (
        "## Grading Rubric\nIs it right?\n" in scorer.ask(judge.reference, silent)[0].messages[0]["content"]
    )
    assert scorer.grade(judge.reference, replace(silent, judged={"grade": '{"score": 0.9}'})).value == 0.9


def test_sessions_follow_one_another(clone: Callable[..., Mapping[str, Question]]) -> None:
    """A new session does not see the conversation before it, but the files; the transcript has all."""
    sessions = (
        "sessions:\n  - id: a\n    prompt: Remember 7.\n  - id: b\n    prompt: Which?\n"
        "  - id: c\n    new_session: true\n    prompt: Read it.\n"
    )
    question = clone(s=task_file("task_s", "llm_judge", checks="", more=sessions))["task_s"]
    replies = [bash("echo 7 > kept"), saying("Yes."), saying("7"), bash("cat kept"), saying("7 again")]
    answer = played(question, *replies)
    assert answer.episode is not None
    prompts = [message["content"] for message in answer.episode.messages if message["role"] == "user"]
    assert prompts == ["Remember 7.", "Which?", "Read it."]
    assert "7" in answer.episode.messages[-2]["content"]


@pytest.mark.parametrize(
    ("reply", "total"),
    [
        ('Sure: {"a": 1} {"scores": {"x": 0.5, "y": {"score": "1"}}}', 0.75),
        ('```json\n{"total": 0.3}\n```\n{"scores": {}, "total": 0.9}', 0.3),
        ('{"criteria_scores": {"x": {"score": 0.5}, "y": "1"}}', 0.5),
        ('{"total": "high", "score": 1}', None),
        ("Overall score: 0.65, well done", 0.65),
        ("Total: 7", None),
        ("", None),
    ],
)
def test_the_total_of_a_reply(reply: str, total: float | None) -> None:
    """A block goes before objects, the last of them first; `total` before the mean of the scores."""
    assert total_in(reply) == total


def test_weights_and_transcripts() -> None:
    """Weights that add up to nothing are a half each; arguments that are not JSON are empty."""
    assert combined(1, 0.5, {"automated": 0, "llm_judge": 0}) == 0.75
    broken = {
        "role": "assistant",
        "content": "x",
        "tool_calls": [{"function": {"name": "f", "arguments": "{"}}],
    }
    transcript = transcript_of([{"role": "system", "content": "s"}, {"role": "user", "content": "u"}, broken])
    assert summary(transcript) == "User: {'type': 'text', 'text': 'u'}\nTool: f({})"
    assert check_scores("no mark\n") is None
    assert "exec(compile('x', " in check_program("x", [], "/work")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("## Prompt", "no head between"),
        ("---\na: [\n---\n", "its head is not YAML"),
        ("---\nname: x\n---\n", "its head has no `id`"),
        ("---\nid: x\ngrading_type: vote\n---\n", "`grading_type` is vote"),
        ("---\nid: x\nworkspace_files: [a]\n---\n", "its head is not as expected"),
    ],
)
def test_a_file_that_is_not_a_task(text: str, message: str) -> None:
    """The message says what is wrong."""
    with pytest.raises(MalformedError, match=message):
        parse_task("task_x.md", text)


def test_a_missing_asset(clone: Callable[..., Mapping[str, Question]]) -> None:
    """It is found missing before anything is asked."""
    text = task_file("task_add", "automated").replace("help.txt\n", "lost.txt\n", 1)
    with pytest.raises(SourceError, match=r"lost\.txt, which the task needs"):
        clone(add=text)
