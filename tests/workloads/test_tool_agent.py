"""The agent with tools of this program: what its tools do, and what is refused."""

from __future__ import annotations

import asyncio

import pytest

from loadgen.sessions.agents.presets import agent_tools
from loadgen.sessions.errors import UsageError
from tests.workloads.tasks.scripted import ScriptedAsk, calling, saying
from workloads.environments.tool_agent import TOOLS, answer_with_tools
from workloads.sample import Sample
from workloads.sandbox.asynchronous import SandboxPool
from workloads.sandbox.base import SandboxSpec


def results(*calls: tuple[str, dict[str, str]]) -> list[str | None]:
    """The results of calls of tools, one turn each; the answer after them ends the episode."""
    ask = ScriptedAsk([*(calling(call) for call in calls), saying("done")])

    async def play() -> None:
        async with SandboxPool().on_demand(SandboxSpec()) as sandbox:
            result = await answer_with_tools(Sample(0, "go"), ask, sandbox, tuple(TOOLS))
            assert result.messages[-1]["content"] == "done"

    asyncio.run(play())
    assert [tool["function"]["name"] for tool in ask.requests[0].tools] == sorted(TOOLS)
    return [record.result for record in ask.tools]


def test_its_tools_work_in_one_sandbox() -> None:
    """What one writes, another reads; a call that fails says so, and the model goes on."""
    assert results(
        ("file_write", {"path": "notes/a.txt", "content": "one\ntwo\n"}),
        ("bash", {"command": "wc -l < notes/a.txt && echo three >> notes/a.txt"}),
        ("file_read", {"path": "notes/a.txt"}),
        ("calculator", {"expression": "(2 + 3) * 4.5"}),
    ) == ["notes/a.txt: 8 characters written", "2\n[exit code 0]", "one\ntwo\nthree\n", "22.5"]


def test_a_tool_that_fails_is_a_result() -> None:
    """Neither ends the episode, nor leaves this program's process."""
    failed = results(
        ("calculator", {"expression": "__import__('os')"}),
        ("calculator", {"expression": "9**9**9**9"}),
        ("calculator", {"text": "1"}),
    )
    assert all(result is not None and result.startswith("Error: ") for result in failed)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("@tools calculator,bash", ("calculator", "bash")),
        ("@tools  calculator, bash calculator", ("calculator", "bash")),
        ("@toolset calculator", ()),
        ("my-agent @tools", ()),
    ],
)
def test_how_tools_are_named(text: str, expected: tuple[str, ...]) -> None:
    """By commas or spaces, each once."""
    assert agent_tools(text, may_run_commands=True) == expected


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("@tools", "no tool is named; the tools are bash, calculator, file_read, file_write"),
        ("@tools bahs", "unknown tool 'bahs'; did you mean 'bash'"),
        ("@tools calculator,bash", "bash needs a sandbox: add --allow-code-execution"),
    ],
)
def test_tools_that_cannot_be_used(text: str, message: str) -> None:
    """Known before the first request."""
    with pytest.raises(UsageError, match=message):
        agent_tools(text, may_run_commands=False)
    assert agent_tools("@tools calculator", may_run_commands=False) == ("calculator",)
