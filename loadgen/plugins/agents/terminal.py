"""An episode in which a model works in a sandbox with one tool, `bash`, until an answer without a call."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from loadgen.plugins.agents.tool_loop import Tool, tool_loop

if TYPE_CHECKING:
    from collections.abc import Sequence

    from loadgen.plugins.agents.episode import Ask, EpisodeResult
    from loadgen.plugins.sandbox.opening import AsyncSandbox, SandboxOnDemand
    from workloads.open_sandbox import CommandResult
    from workloads.sample import Message

COMMAND_S: Final = 180.0
"""How long a command may take."""

_SHOWN: Final = 10_000
"""Characters of each stream that the model is shown: half of the beginning and half of the end."""

_BASH: Final = {
    "type": "function",
    "function": {
        "name": "bash",
        "description": (
            "Run a command with bash, in a new shell in the working folder each time. Files stay, and so do "
            f"processes in the background. A command is killed after {COMMAND_S:g} s."
        ),
        "parameters": {
            "type": "object",
            "properties": {"command": {"type": "string", "description": "The command."}},
            "required": ["command"],
        },
    },
}


async def work(
    ask: Ask, sandbox: AsyncSandbox | SandboxOnDemand, messages: Sequence[Message]
) -> EpisodeResult:
    """Let the model run commands until an answer without one; see `tool_loop`."""
    return await tool_loop(ask, messages, [bash_tool(sandbox)])


def bash_tool(sandbox: AsyncSandbox | SandboxOnDemand) -> Tool:
    """The tool `bash`, whose commands run in a sandbox."""

    async def bash(command: str) -> str:
        return shown(await sandbox.exec(["bash", "-c", command], COMMAND_S))

    return Tool(_BASH, bash)


def shown(result: CommandResult) -> str:
    """A command's result, as text for the model."""
    ending = {
        "timed_out": f"killed after {COMMAND_S:g} s",
        "out_of_memory": "killed: out of memory",
        "too_much_output": "killed: too much output",
    }.get(result.ending, f"exit code {result.exit_code}")
    streams = [cut(text.rstrip()) for text in (result.stdout, result.stderr) if text.strip()]
    return "\n".join([*streams, f"[{ending}]"])


def cut(text: str) -> str:
    """The text for the model: of a long text the beginning and the end."""
    left_out = len(text) - _SHOWN
    if left_out <= 0:
        return text
    half = _SHOWN // 2
    return f"{text[:half]}\n[{left_out} characters left out]\n{text[-half:]}"
