"""A conversation in OpenAI's chat format as the input of OpenAI's Responses.

What is said becomes a message, a call of a tool and its result an item each. Reasoning is not sent back.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from loadgen.driver.client.chat_members import function_of, only_known
from loadgen.driver.errors import CannotAskError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from workloads.sample import Message


def items(chat: Sequence[Message]) -> list[dict[str, Any]]:
    """The messages as input items; raise `CannotAskError` for what has no place in the protocol."""
    return [item for message in chat for item in _items(message)]


def tools(offered: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The tools in the protocol's form; raise `CannotAskError` for what is not a function."""
    return [{"type": "function", **function_of(tool, "responses")} for tool in offered]


def _items(message: Message) -> Iterator[dict[str, Any]]:
    only_known(message, "responses")
    role, content = message["role"], message.get("content")
    if role == "tool":
        output = _parts(content, "input_text") if isinstance(content, list) else content or ""
        yield {"type": "function_call_output", "call_id": message.get("tool_call_id", ""), "output": output}
        return
    text_type = "output_text" if role == "assistant" else "input_text"
    parts = _parts(content, text_type) if isinstance(content, list) else content
    if refusal := message.get("refusal"):
        parts = parts or str(refusal)
    if parts or not message.get("tool_calls"):
        yield {"role": role, "content": parts or ""}
    for call in message.get("tool_calls") or ():
        function = call.get("function") or {}
        yield {
            "type": "function_call",
            "call_id": call.get("id") or "",
            "name": function.get("name") or "",
            "arguments": function.get("arguments") or "",
        }


def _parts(content: Sequence[Mapping[str, Any]], text_type: str) -> list[dict[str, Any]]:
    return [_part(part, text_type) for part in content]


def _part(part: Mapping[str, Any], text_type: str) -> dict[str, Any]:
    match part["type"]:
        case "text":
            return {"type": text_type, "text": part["text"]}
        case "image_url" if text_type == "input_text":
            image = part["image_url"]
            detail = {"detail": image["detail"]} if "detail" in image else {}
            return {"type": "input_image", "image_url": image["url"], **detail}
        case kind:
            raise CannotAskError(
                f"a part of the type {kind}, which --protocol responses has no place for here"
            )
