"""The steps of a scenario's server on a connection. Times are ms from the request's arrival."""

from __future__ import annotations

from typing import Literal, NamedTuple

from lazy_dataclasses import dataclass

Kind = Literal["content", "reasoning", "reasoning_content", "tool"]
"""What a token belongs to; chat servers have two names for reasoning."""


class EventContent(NamedTuple):
    """The content of one event of a stream.

    Attributes:
        text: Its text; empty for a token that cannot be seen yet.
        kind: What it belongs to.
        tokens: How many tokens it is; 0 for an empty text that is not a token.
        choice: Which of several answers to the same question it belongs to.
    """

    text: str
    kind: Kind = "content"
    tokens: int = 1
    choice: int = 0


@dataclass(frozen=True, slots=True)
class Send:
    """Write bytes.

    Attributes:
        at_ms: When, in ms after the request.
        contents: What the events carry that these bytes complete.
        after: The response was over before: these bytes are not part of it.
    """

    at_ms: float
    data: bytes
    contents: tuple[EventContent, ...] = ()
    after: bool = False


@dataclass(frozen=True, slots=True)
class Flood:
    """Write a text repeatedly, with pauses, until the client hangs up."""

    at_ms: float
    data: bytes
    every_ms: float = 0


@dataclass(frozen=True, slots=True)
class Close:
    """Close the connection in order."""

    at_ms: float


@dataclass(frozen=True, slots=True)
class Reset:
    """Close the connection with a RST; unread bytes are lost."""

    at_ms: float


@dataclass(frozen=True, slots=True)
class StallStep:
    """Say no more until the client hangs up."""


Step = Send | Flood | Close | Reset | StallStep


@dataclass(frozen=True, slots=True)
class ScenarioScript:
    """The script for one request. The next request follows, unless a step ends the connection.

    Attributes:
        counted: Whether the server tells how many tokens it sent.
        streamed: Whether each event has its own time; else the answer is one JSON text.
    """

    steps: tuple[Step, ...]
    counted: bool = True
    streamed: bool = True

    @property
    def contents(self) -> tuple[EventContent, ...]:
        """The contents of the events, in order."""
        return tuple(content for step in self.steps if isinstance(step, Send) for content in step.contents)
