"""The common part of all protocols' frames."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import orjson

if TYPE_CHECKING:
    from collections.abc import Sequence

    from loadgen.mock_endpoint.scenarios.steps import EventContent


class Ending(NamedTuple):
    """The events after the last token; empty where a protocol has none or omits the event."""

    finish: bytes
    usage: bytes
    done: bytes


class Dialect(Protocol):
    """One protocol's frames; a module."""

    path: str
    """Where requests go, below `/v1`."""

    def opening(self) -> bytes:
        """The beginning of a stream, without a token."""

    def events(self, contents: Sequence[EventContent]) -> list[bytes]:
        """The event of each token (or group), including required events before."""

    def ending(self, contents: Sequence[EventContent], *, counted: bool) -> Ending:
        """The end of a stream; `counted`: with the number of tokens."""

    def error(self, message: str) -> bytes:
        """The event that reports an error in the middle of a stream."""

    def whole(self, contents: Sequence[EventContent]) -> bytes:
        """The JSON of an answer in one piece."""


def event(payload: Any, name: str = "") -> bytes:
    """One server-sent event."""
    return (f"event: {name}\n".encode() if name else b"") + b"data: " + orjson.dumps(payload) + b"\n\n"


def text_of(contents: Sequence[EventContent], *kinds: str) -> str:
    """The text of the first answer, of these kinds."""
    return "".join(content.text for content in contents if content.kind in kinds and not content.choice)


def count(contents: Sequence[EventContent], *kinds: str) -> int:
    """How many tokens there are, of these kinds or of all."""
    return sum(content.tokens for content in contents if not kinds or content.kind in kinds)
