"""OpenAI Responses."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import orjson

from loadgen.mock_endpoint.scenarios.dialect import Ending, count, event, text_of
from loadgen.mock_endpoint.scenarios.timetable import INPUT_TOKENS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from loadgen.mock_endpoint.scenarios.steps import EventContent

path: Final = "/responses"

_HEAD: Final = {"id": "resp_1", "object": "response", "created_at": 1, "model": "scenario"}
_DELTAS: Final = {
    "content": "response.output_text.delta",
    "reasoning": "response.reasoning_text.delta",
    "tool": "response.function_call_arguments.delta",
}
_ITEMS: Final[dict[str, dict[str, Any]]] = {
    "content": {"type": "message", "id": "msg_1", "role": "assistant", "content": []},
    "reasoning": {"type": "reasoning", "id": "rs_1", "summary": []},
    "tool": {"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "search", "arguments": ""},
}


def opening() -> bytes:
    """The start of the response, in two events."""
    begun = {**_HEAD, "status": "in_progress", "output": [], "usage": None}
    return b"".join(_typed(f"response.{name}", response=begun) for name in ("created", "in_progress"))


def events(contents: Sequence[EventContent]) -> list[bytes]:
    """A delta for each, after the start of the item; a call's start has a token itself, the name."""
    return list(_events(contents))


def _events(contents: Sequence[EventContent]) -> Iterator[bytes]:
    before, index = None, -1
    for content in contents:
        begins = content.kind != before
        before, index = content.kind, index + begins
        start = _typed("response.output_item.added", output_index=index, item=_ITEMS[content.kind])
        if begins and content.kind == "tool":
            yield start
            continue
        yield (start if begins else b"") + _typed(
            _DELTAS[content.kind], output_index=index, delta=content.text
        )


def ending(contents: Sequence[EventContent], *, counted: bool) -> Ending:
    """The end of the last item, and the whole response again, with usage."""
    finish = (
        _typed("response.output_item.done", output_index=0, item=_ITEMS[contents[-1].kind])
        if contents
        else b""
    )
    return Ending(finish, b"", _typed("response.completed", response=_response(contents, counted=counted)))


def error(message: str) -> bytes:
    """The event `error`."""
    return _typed("error", code="server_error", message=message)


def whole(contents: Sequence[EventContent]) -> bytes:
    """The JSON of an answer in one piece."""
    return orjson.dumps(_response(contents, counted=True))


def _response(contents: Sequence[EventContent], *, counted: bool) -> dict[str, Any]:
    part = {"type": "output_text", "text": text_of(contents, "content"), "annotations": []}
    output = [{**_ITEMS["content"], "content": [part]}] if part["text"] else []
    usage = {
        "input_tokens": INPUT_TOKENS,
        "input_tokens_details": {"cached_tokens": 1},
        "output_tokens": count(contents),
        "output_tokens_details": {"reasoning_tokens": count(contents, "reasoning")},
    }
    return {**_HEAD, "status": "completed", "output": output, "usage": usage if counted else None}


def _typed(kind: str, **members: Any) -> bytes:
    return event({"type": kind, **members}, kind)
