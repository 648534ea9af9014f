"""OpenAI completions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import orjson

from loadgen.mock_endpoint.scenarios.dialect import Ending, event, text_of
from loadgen.mock_endpoint.scenarios.dialects import chat

if TYPE_CHECKING:
    from collections.abc import Sequence

    from loadgen.mock_endpoint.scenarios.steps import EventContent

path: Final = "/completions"

_HEAD: Final = {"id": "cmpl-1", "object": "text_completion", "created": 1, "model": "scenario"}


def opening() -> bytes:
    """Nothing: there are no roles."""
    return b""


def events(contents: Sequence[EventContent]) -> list[bytes]:
    """A chunk for each."""
    return [chunk(content.text, choice=content.choice) for content in contents]


def ending(contents: Sequence[EventContent], *, counted: bool) -> Ending:
    """The finish reason, the usage, `[DONE]`."""
    choices = sorted({content.choice for content in contents} or {0})
    counts = event({**_HEAD, "choices": [], "usage": chat.usage(contents)}) if counted else b""
    return Ending(b"".join(chunk("", "stop", choice) for choice in choices), counts, chat.DONE)


error = chat.error


def whole(contents: Sequence[EventContent]) -> bytes:
    """The JSON of an answer in one piece."""
    choice = {"index": 0, "text": text_of(contents, "content"), "finish_reason": "stop"}
    return orjson.dumps({**_HEAD, "choices": [choice], "usage": chat.usage(contents)})


def chunk(text: str, reason: str | None = None, choice: int = 0, **more: Any) -> bytes:
    """One chunk."""
    return event({**_HEAD, "choices": [{"index": choice, "text": text, "finish_reason": reason}], **more})
