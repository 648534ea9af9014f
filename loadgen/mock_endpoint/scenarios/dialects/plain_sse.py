"""Server-sent events of a server that keeps to no protocol: the text is at `text`, for one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import orjson

from loadgen.mock_endpoint.scenarios.dialect import Ending, count, event, text_of
from loadgen.mock_endpoint.scenarios.dialects import chat

if TYPE_CHECKING:
    from collections.abc import Sequence

    from loadgen.mock_endpoint.scenarios.steps import EventContent

path: Final = "/sse"

PLACES: Final = {"text_at": "text", "tokens_at": "tokens", "finish_at": "finish"}
"""Where a client finds the text, the number of tokens and the finish reason."""


def opening() -> bytes:
    """Nothing."""
    return b""


def events(contents: Sequence[EventContent]) -> list[bytes]:
    """An event for each."""
    return [event({"text": content.text}) for content in contents]


def ending(contents: Sequence[EventContent], *, counted: bool) -> Ending:
    """The finish reason, the number of tokens, `[DONE]`."""
    counts = event({"tokens": count(contents)}) if counted else b""
    return Ending(event({"text": "", "finish": "stop"}), counts, chat.DONE)


error = chat.error


def whole(contents: Sequence[EventContent]) -> bytes:
    """The JSON of an answer in one piece."""
    return orjson.dumps({"text": text_of(contents, "content"), "tokens": count(contents), "finish": "stop"})
