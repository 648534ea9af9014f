"""An episode in which a model calls tools until an answer without a call."""

from __future__ import annotations

import inspect
import json
from typing import TYPE_CHECKING, Any

from lazy_dataclasses import dataclass
from loadgen.plugins.agents.episode import EpisodeError, EpisodeResult
from workloads.sandbox_contract import SandboxError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from loadgen.plugins.agents.episode import Ask
    from workloads.sample import Message


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool: the schema for the model, and the function.

    Attributes:
        schema: In OpenAI's format: `{"type": "function", "function": {"name", …}}`.
        function: Takes the arguments by name; returns the result, or a coroutine of it.
    """

    schema: Mapping[str, Any]
    function: Callable[..., Any]

    @property
    def name(self) -> str:
        """The name of the tool in the schema."""
        return str(self.schema["function"]["name"])


async def tool_loop(
    ask: Ask, messages: Sequence[Message], tools: Sequence[Tool], *, system: str | None = None
) -> EpisodeResult:
    """Ask, run the called tools, return the results to the model, and repeat.

    A call that cannot be run (an unknown tool, arguments that are not JSON, an exception) becomes a result
    that says so: the model may try again.

    Args:
        ask: Asks the model.
        messages: The conversation to begin with.
        tools: The tools.
        system: A system prompt in front of it.

    Raises:
        EpisodeError: No further turn can be asked.
        SandboxError: The sandbox of a tool failed.
    """
    before: list[Message] = [] if system is None else [{"role": "system", "content": system}]
    conversation: list[Message] = [*before, *messages]
    by_name = {tool.name: tool for tool in tools}
    schemas = [tool.schema for tool in tools]
    while True:
        reply = await ask(conversation, tools=schemas)
        conversation.append(reply.message)
        if not reply.tool_calls:
            return EpisodeResult(conversation, finish_reason=reply.finish_reason or "stop")
        for call in reply.tool_calls:
            result = await run_call(ask, call, by_name)
            conversation.append({"role": "tool", "tool_call_id": call.get("id", ""), "content": result})


async def run_call(ask: Ask, call: Mapping[str, Any], tools: Mapping[str, Tool]) -> str:
    """Run one tool call, with an event in the log."""
    function = call.get("function") or {}
    name, text = str(function.get("name")), function.get("arguments") or "{}"
    with ask.tool(name, text) as record:
        try:
            arguments = json.loads(text) if isinstance(text, str) else text
            value = _tool(name, tools).function(**arguments)
            if inspect.isawaitable(value):
                value = await value
        except (EpisodeError, SandboxError):
            raise
        except Exception as error:  # noqa: BLE001 (what a tool raises is a result for the model)
            record.error = f"{type(error).__name__}: {error}"
            record.result = f"Error: {record.error}"
        else:
            record.result = value if isinstance(value, str) else json.dumps(value, default=str)
    return record.result


def _tool(name: str, tools: Mapping[str, Tool]) -> Tool:
    if name not in tools:
        raise LookupError(f"no tool {name}; the tools are {', '.join(sorted(tools))}")
    return tools[name]
