"""OpenAI chat completions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import orjson

from loadgen.mock_endpoint.scenarios.dialect import Ending, count, event, text_of
from loadgen.mock_endpoint.scenarios.timetable import INPUT_TOKENS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from loadgen.mock_endpoint.scenarios.steps import EventContent

path: Final = "/chat/completions"

DONE: Final = b"data: [DONE]\n\n"

_HEAD: Final = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "scenario"}
_CALL: Final = {"id": "call_1", "type": "function"}


def opening() -> bytes:
    """The chunk that holds only the role."""
    return delta({"role": "assistant", "content": ""})


def events(contents: Sequence[EventContent]) -> list[bytes]:
    """A delta for each."""
    calls = [content for content in contents if content.kind == "tool"]
    return [
        delta(_delta_of(content, first=calls[:1] == [content]), choice=content.choice) for content in contents
    ]


def ending(contents: Sequence[EventContent], *, counted: bool) -> Ending:
    """The finish reason, the usage, `[DONE]`."""
    reason = "tool_calls" if any(content.kind == "tool" for content in contents) else "stop"
    finish = b"".join(
        delta({}, reason, choice) for choice in sorted({content.choice for content in contents} or {0})
    )
    return Ending(finish, event({**_HEAD, "choices": [], "usage": usage(contents)}) if counted else b"", DONE)


def error(message: str) -> bytes:
    """An error in the place of a chunk."""
    return event({"error": {"message": message, "type": "server_error", "code": 500}})


def whole(contents: Sequence[EventContent]) -> bytes:
    """The JSON of an answer in one piece."""
    message: dict[str, Any] = {"role": "assistant", "content": text_of(contents, "content")}
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    kind = {"object": "chat.completion"}
    return orjson.dumps({**_HEAD, **kind, "choices": [choice], "usage": usage(contents)})


def delta(member: dict[str, Any], reason: str | None = None, choice: int = 0, **more: Any) -> bytes:
    """One chunk."""
    return event({**_HEAD, "choices": [{"index": choice, "delta": member, "finish_reason": reason}], **more})


def usage(contents: Sequence[EventContent]) -> dict[str, Any]:
    """The server's own counts."""
    output = count(contents)
    return {
        "prompt_tokens": INPUT_TOKENS,
        "completion_tokens": output,
        "total_tokens": INPUT_TOKENS + output,
        "prompt_tokens_details": {"cached_tokens": 1},
        "completion_tokens_details": {"reasoning_tokens": count(contents, "reasoning", "reasoning_content")},
    }


def _delta_of(content: EventContent, *, first: bool) -> dict[str, Any]:
    if content.kind != "tool":
        return {content.kind: content.text}
    function = {"name": "search", "arguments": content.text} if first else {"arguments": content.text}
    return {"tool_calls": [{"index": 0, **(_CALL if first else {}), "function": function}]}
