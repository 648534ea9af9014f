"""The messages of a request in a span of generative AI, as chat messages in OpenAI's format.

Source: OpenTelemetry's semantic conventions of generative AI (`gen_ai.input.messages`,
`gen_ai.system_instructions`, `gen_ai.tool.definitions`): lists as JSON, of messages with parts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import orjson

from loadgen.plugins.agentic.readers.members import objects_in, text_in

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from workloads.sample import Message


def chat_of(attributes: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """`messages` and `tools` of a request; None without messages, or with parts other than text and tools.

    Args:
        attributes: The attributes of the span by name.
    """
    messages = [
        message
        for each in _listed(attributes, "gen_ai.input.messages")
        for message in _messages(text_in(each, "role") or "user", objects_in(each, "parts"))
    ]
    if not messages or None in messages:
        return None
    system = _text(_listed(attributes, "gen_ai.system_instructions"))
    first = [{"role": "system", "content": system}] if system else []
    tools = [{"type": "function", "function": _function(tool)} for tool in _tools(attributes)]
    return {"messages": [*first, *messages], "tools": tools}


def _listed(attributes: Mapping[str, Any], name: str) -> list[dict[str, Any]]:
    """The objects of an attribute, which is a list, or JSON of one."""
    value = attributes.get(name)
    if isinstance(value, str):
        try:
            value = orjson.loads(value)
        except orjson.JSONDecodeError:
            return []
    return objects_in({name: value}, name)


def _messages(role: str, parts: Sequence[Mapping[str, Any]]) -> Iterator[Message | None]:
    """The chat messages of a message: each result of a tool is one; None for a part that cannot be sent."""
    kinds = {text_in(part, "type") for part in parts}
    if not kinds <= {"text", "reasoning", "tool_call", "tool_call_response"}:
        yield None
    results = [part for part in parts if part.get("type") == "tool_call_response"]
    for part in results:
        result = part.get("response", part.get("result"))
        content = result if isinstance(result, str) else orjson.dumps(result).decode()
        yield {"role": "tool", "tool_call_id": text_in(part, "id"), "content": content}
    calls = [
        {
            "id": text_in(part, "id"),
            "type": "function",
            "function": {"name": text_in(part, "name"), "arguments": _arguments(part.get("arguments"))},
        }
        for part in parts
        if part.get("type") == "tool_call"
    ]
    if calls or not results:
        yield {"role": role, "content": _text(parts), **({"tool_calls": calls} if calls else {})}


def _arguments(value: Any) -> str:
    return value if isinstance(value, str) else orjson.dumps({} if value is None else value).decode()


def _text(parts: Sequence[Mapping[str, Any]]) -> str:
    return "\n".join(text_in(part, "content") for part in parts if part.get("type") == "text")


def _tools(attributes: Mapping[str, Any]) -> list[dict[str, Any]]:
    return _listed(attributes, "gen_ai.tool.definitions")


def _function(tool: Mapping[str, Any]) -> Mapping[str, Any]:
    function = tool.get("function")
    return function if isinstance(function, dict) else {name: tool[name] for name in tool if name != "type"}
