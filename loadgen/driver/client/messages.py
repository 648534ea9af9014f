"""Anthropic Messages: `POST /v1/messages`.

A stream is a series of typed events around blocks of content: text, thinking, and calls of tools. The start
of a block that names a tool is the first token of that call.

A conversation in OpenAI's chat format has more roles: here results of tools are the user's, what one of the
two roles says in succession is one message, system messages go before all others, and no reasoning is sent
back.
"""

from __future__ import annotations

import re
from itertools import takewhile
from typing import TYPE_CHECKING, Any, Final

import orjson

from loadgen.driver.client.chat_members import function_of, only_known
from loadgen.driver.client.codec import (
    Delta,
    Generation,
    Usage,
    bearer,
    logged_messages,
    read_error,
    require_texts,
)
from loadgen.driver.client.server_json import (
    count,
    event_type,
    members,
    objects,
    read_reason,
    text,
    type_of,
    written,
)
from loadgen.driver.errors import CannotAskError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from workloads.sample import Message, Sample

path: Final = "/messages"
models: Final = "/models"
announces_end: Final = True
cumulative: Final = False

VERSION: Final = "2023-06-01"
"""Of the protocol, as every request has to name it."""

DEFAULT_MAX_TOKENS: Final = 1024
"""The protocol demands a bound; this one stands where none was given."""

_CALLS: Final = frozenset({"tool_use", "server_tool_use"})
_INPUT: Final = ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")


def headers(api_key: str | None) -> dict[str, str]:
    """The key in both forms: the protocol's own, and the bearer form of other servers."""
    keys = {} if api_key is None else {"x-api-key": api_key}
    return {"anthropic-version": VERSION, **keys, **bearer(api_key)}


def request(sample: Sample, generation: Generation) -> dict[str, Any]:
    """The request body that asks a sample."""
    require_texts(sample, "messages")
    system, messages = sample.system, [{"role": "user", "content": sample.prompt}]
    if sample.chat is not None:
        system, messages = turns(sample.chat)
    max_tokens = generation.most_tokens(sample)
    body: dict[str, Any] = {
        "model": generation.model,
        "max_tokens": DEFAULT_MAX_TOKENS if max_tokens is None else max_tokens,
        "messages": messages,
        "stream": generation.stream,
    }
    if system is not None:
        body["system"] = system
    if sample.tools:
        body["tools"] = tools(sample.tools)
    if (temperature := generation.sampled_at(sample)) is not None:
        body["temperature"] = temperature
    return generation.extended(body)


def asked(sample: Sample) -> dict[str, Any]:
    """The sample's texts for the log."""
    return logged_messages(sample)


def chunk(payload: Any) -> Delta:
    """Read one event of a stream."""
    error = read_error(members(payload))
    if error is not None:
        return Delta(error=error)
    match event_type(payload):
        case "content_block_delta":
            return _added(members(payload.get("delta"), "`delta`"), count(payload, "index"))
        case "content_block_start":
            block = members(payload.get("content_block"), "`content_block`")
            return _block(block, count(payload, "index"), "")
        case "message_start":
            message = members(payload.get("message"), "`message`")
            usage = _usage(message.get("usage"))
            # What it has of the output so far is not a total.
            return Delta(usage=usage and usage._replace(output_tokens=None))
        case "message_delta":
            stopped = members(payload.get("delta") or {}, "`delta`")
            reason, aborted = read_reason(stopped.get("stop_reason"))
            return Delta(finish_reason=reason, error=aborted, usage=_usage(payload.get("usage")))
        case kind:
            # A `ping`, the end of a block, and what later versions of the protocol may add say nothing.
            return Delta(done=kind == "message_stop")


def whole(payload: Any) -> Delta:
    """Read a complete response that is not a stream."""
    message = members(payload)
    reason, aborted = read_reason(message.get("stop_reason"))
    blocks = objects(message.get("content"), "`content`")
    parts = [_block(block, index, block.get("input")) for index, block in enumerate(blocks)]
    return Delta(
        content="".join(part.content for part in parts),
        reasoning="".join(part.reasoning for part in parts),
        tool_calls=[call for part in parts for call in part.tool_calls],
        finish_reason=reason,
        usage=_usage(message.get("usage")),
        error=read_error(message) or aborted,
    )


def _added(delta: Mapping[str, Any], index: int | None) -> Delta:
    """The new part of a block. A signature is not generated text."""
    match type_of(delta):
        case "text_delta":
            return Delta(content=text(delta.get("text")))
        case "thinking_delta":
            return Delta(reasoning=text(delta.get("thinking")))
        case "input_json_delta":
            new = text(delta.get("partial_json"))
            part = {"index": index, "function": {"arguments": new}}
            return Delta(tool_calls=[part]) if new else Delta()
    return Delta()


def _block(block: Mapping[str, Any], index: int | None, arguments: Any) -> Delta:
    """The start of a block, or a whole block; calls in the chat form, the only form in the log."""
    kind = type_of(block)
    if kind == "text":
        return Delta(content=text(block.get("text")))
    if kind == "thinking":
        return Delta(reasoning=text(block.get("thinking")))
    if kind in _CALLS:
        function = {
            "name": text(block.get("name")),
            "arguments": arguments if isinstance(arguments, str) else written(arguments),
        }
        call = {"index": index, "id": text(block.get("id")), "type": "function", "function": function}
        return Delta(tool_calls=[call])
    return Delta()


def _usage(usage: Any) -> Usage | None:
    """The counts. Tokens read from a cache and written to one are not among the protocol's `input_tokens`."""
    if not isinstance(usage, dict) or not usage:
        return None
    prompt = sum(count(usage, name) or 0 for name in _INPUT)
    return Usage(
        # No prompt is empty: some servers send 0 until they know.
        input_tokens=prompt or None,
        output_tokens=count(usage, "output_tokens"),
        cached_tokens=count(usage, "cache_read_input_tokens"),
    )


_SYSTEM: Final = frozenset({"system", "developer"})
_DATA: Final = re.compile(r"data:([\w.+-]+/[\w.+-]+);base64,", re.IGNORECASE)
_FETCHED: Final = ("http://", "https://")


def turns(chat: Sequence[Message]) -> tuple[str | None, list[dict[str, Any]]]:
    """The system prompt, if any, and the messages; raise `CannotAskError` for parts without a place."""
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
    """The tools in the protocol's form; raise `CannotAskError` for other tools than functions."""
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
    blocks = content if isinstance(content, str) else [_input_block(part) for part in content]
    if message["role"] == "tool":
        return [{"type": "tool_result", "tool_use_id": message.get("tool_call_id", ""), "content": blocks}]
    calls = [_call(call) for call in message.get("tool_calls") or ()]
    return [*_as_blocks(blocks), *calls] if calls else blocks


def _as_blocks(content: str | list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Content as a list of blocks, without empty texts, which the protocol refuses."""
    if isinstance(content, str):
        return [{"type": "text", "text": content}] if content else []
    return content


def _input_block(part: Mapping[str, Any]) -> dict[str, Any]:
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
