"""Anthropic Messages."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import orjson

from loadgen.mock_endpoint.scenarios.dialect import Ending, count, event, text_of
from loadgen.mock_endpoint.scenarios.timetable import INPUT_TOKENS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from loadgen.mock_endpoint.scenarios.steps import EventContent

path: Final = "/messages"

_HEAD: Final = {"id": "msg_1", "type": "message", "role": "assistant", "model": "scenario"}
_BLOCKS: Final[dict[str, dict[str, Any]]] = {
    "content": {"type": "text", "text": ""},
    "reasoning": {"type": "thinking", "thinking": "", "signature": ""},
    "tool": {"type": "tool_use", "id": "toolu_1", "name": "search", "input": {}},
}
_DELTAS: Final = {
    "content": ("text_delta", "text"),
    "reasoning": ("thinking_delta", "thinking"),
    "tool": ("input_json_delta", "partial_json"),
}


def opening() -> bytes:
    """The start of the message, and a ping."""
    begun: dict[str, Any] = {
        **_HEAD,
        "content": [],
        "stop_reason": None,
        "usage": {**_INPUT, "output_tokens": 1},
    }
    return _typed("message_start", message=begun) + _typed("ping")


def events(contents: Sequence[EventContent]) -> list[bytes]:
    """A delta for each, after the start of the block; a call's start has a token itself, the name."""
    return list(_events(contents))


def _events(contents: Sequence[EventContent]) -> Iterator[bytes]:
    before, index = None, -1
    for content in contents:
        start = b""
        if content.kind != before:
            stop = b"" if before is None else _typed("content_block_stop", index=index)
            before, index = content.kind, index + 1
            start = stop + _typed("content_block_start", index=index, content_block=_BLOCKS[content.kind])
            if content.kind == "tool":
                yield start
                continue
        kind, member = _DELTAS[content.kind]
        yield start + _typed("content_block_delta", index=index, delta={"type": kind, member: content.text})


def ending(contents: Sequence[EventContent], *, counted: bool) -> Ending:
    """The end of the last block; the reason and the usage; the end of the message."""
    stop = _typed("content_block_stop", index=0) if contents else b""
    reason = {"stop_reason": "end_turn", "stop_sequence": None}
    usage = {"usage": {"output_tokens": count(contents)}} if counted else {}
    return Ending(stop, _typed("message_delta", delta=reason, **usage), _typed("message_stop"))


def error(message: str) -> bytes:
    """The event `error`."""
    return _typed("error", error={"type": "overloaded_error", "message": message})


def whole(contents: Sequence[EventContent]) -> bytes:
    """The JSON of an answer in one piece."""
    content = [{"type": "text", "text": text_of(contents, "content")}]
    usage = {**_INPUT, "output_tokens": count(contents)}
    return orjson.dumps({**_HEAD, "content": content, "stop_reason": "end_turn", "usage": usage})


_INPUT: Final = {"input_tokens": INPUT_TOKENS - 1, "cache_read_input_tokens": 1}


def _typed(kind: str, **members: Any) -> bytes:
    return event({"type": kind, **members}, kind)
