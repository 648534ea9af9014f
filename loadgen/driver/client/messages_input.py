"""A conversation in OpenAI's chat format as Anthropic's Messages.

The protocol has two roles, which take turns: results of tools are the user's, and what one of the two says in
succession is one message. System messages go before all others. Reasoning is not sent back.
"""

from __future__ import annotations

import re
from itertools import takewhile
from typing import TYPE_CHECKING, Any, Final

import orjson

from loadgen.driver.client.chat_members import function_of, only_known
from loadgen.driver.errors import CannotAskError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from workloads.sample import Message

_SYSTEM: Final = frozenset({"system", "developer"})
_DATA: Final = re.compile(r"data:([\w.+-]+/[\w.+-]+);base64,", re.IGNORECASE)
_FETCHED: Final = ("http://", "https://")


def turns(chat: Sequence[Message]) -> tuple[str | None, list[dict[str, Any]]]:
    """The system prompt, if any, and the messages; raise `CannotAskError` for what has no place."""
    system = [_text(message) for message in takewhile(_is_system, chat)]
    messages: list[dict[str, Any]] = []
    for message in chat[len(system) :]:
        if _is_system(message):
            raise CannotAskError(
                f"a message of {message['role']} in the middle; with --protocol messages it goes before all "
                "others"
            )
        only_known(message, "messages")
        role = "assistant" if message["role"] == "assistant" else "user"
        if messages and messages[-1]["role"] == role:
            messages[-1]["content"] = [*_as_blocks(messages[-1]["content"]), *_as_blocks(_content(message))]
        else:
            messages.append({"role": role, "content": _content(message)})
    return "\n\n".join(system) or None, messages


def tools(offered: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The tools in the protocol's form; raise `CannotAskError` for what is not a function."""
    functions = [function_of(tool, "messages") for tool in offered]
    return [
        {
            "name": function["name"],
            **({"description": function["description"]} if "description" in function else {}),
            "input_schema": function.get("parameters") or {"type": "object", "properties": {}},
        }
        for function in functions
    ]


def _is_system(message: Message) -> bool:
    return message["role"] in _SYSTEM


def _text(message: Message) -> str:
    """A message's text where parts of other kinds have no place."""
    only_known(message, "messages")
    content = message.get("content") or ""
    if isinstance(content, str):
        return content
    if other := [part["type"] for part in content if part["type"] != "text"]:
        raise CannotAskError(f"a part of the type {other[0]} in a message of {message['role']}")
    return "\n\n".join(part["text"] for part in content)


def _content(message: Message) -> str | list[dict[str, Any]]:
    content = message.get("content") or message.get("refusal") or ""
    blocks = content if isinstance(content, str) else [_block(part) for part in content]
    if message["role"] == "tool":
        return [{"type": "tool_result", "tool_use_id": message.get("tool_call_id", ""), "content": blocks}]
    calls = [_call(call) for call in message.get("tool_calls") or ()]
    return [*_as_blocks(blocks), *calls] if calls else blocks


def _as_blocks(content: str | list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Content as a list of blocks, without empty texts, which the protocol refuses."""
    if isinstance(content, str):
        return [{"type": "text", "text": content}] if content else []
    return content


def _block(part: Mapping[str, Any]) -> dict[str, Any]:
    match part["type"]:
        case "text":
            return {"type": "text", "text": part["text"]}
        case "image_url":
            return {"type": "image", "source": _source(part["image_url"]["url"])}
        case kind:
            raise CannotAskError(f"a part of the type {kind}, which --protocol messages has no place for")


def _source(url: str) -> dict[str, str]:
    if data := _DATA.match(url):
        return {"type": "base64", "media_type": data[1], "data": url[data.end() :]}
    if url.lower().startswith(_FETCHED):
        return {"type": "url", "url": url}
    raise CannotAskError(
        f"an image at {url[:40]!r}; with --protocol messages it is an http: or https: URL, or a data: URL in "
        "base64"
    )


def _call(call: Mapping[str, Any]) -> dict[str, Any]:
    function = call.get("function") or {}
    return {
        "type": "tool_use",
        "id": call.get("id") or "",
        "name": function.get("name") or "",
        "input": _input(function.get("arguments") or "{}"),
    }


def _input(arguments: str) -> dict[str, Any]:
    """The arguments of a tool call as an object; a model's text may not be JSON."""
    try:
        value = orjson.loads(arguments)
    except orjson.JSONDecodeError:
        value = None
    return value if isinstance(value, dict) else {"arguments": arguments}
