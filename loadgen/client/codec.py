"""What a protocol has to say: how to ask, and what a piece of an answer means. Sans-IO."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from workloads.sample import Sample


MOST_TOKENS: Final = 2**53
"""A count of tokens from here on is nonsense, and would not survive JSON."""


@dataclass(frozen=True, slots=True)
class Generation:
    """How an answer is to be generated; what is None is left to the server.

    Attributes:
        model: The model's name, as the endpoint knows it.
        max_tokens: The most output tokens.
        temperature: Sampling temperature.
        stream: Whether the answer is to come as a stream.
        extra_body: Further members of the request body; they win over ours.
    """

    model: str
    max_tokens: int | None = None
    temperature: float | None = None
    stream: bool = True
    extra_body: Mapping[str, Any] = field(default_factory=dict)


class Usage(NamedTuple):
    """The server's own token counts; None where it did not say."""

    input_tokens: int | None = None
    output_tokens: int | None = None
    reasoning_tokens: int | None = None
    cached_tokens: int | None = None


class Delta(NamedTuple):
    """What one piece of a response adds to the answer."""

    content: str = ""
    reasoning: str = ""
    tool_calls: Sequence[Mapping[str, Any]] = ()
    finish_reason: str | None = None
    usage: Usage | None = None
    error: str | None = None

    @property
    def carries_token(self) -> bool:
        """Whether it has something that the model generated: text, reasoning or a part of a tool call."""
        return bool(self.content or self.reasoning or self.tool_calls)


class Codec(Protocol):
    """One protocol: one file."""

    path: str
    """Where requests go, below the base URL."""

    def request(self, sample: Sample, generation: Generation) -> dict[str, Any]:
        """The request body that asks a sample."""

    def asked(self, sample: Sample) -> dict[str, Any]:
        """The sample's texts as the log keeps them."""

    def chunk(self, payload: Any) -> Delta:
        """Read one frame of a stream, decoded from JSON.

        Raises:
            MalformedError: It is not what the protocol sends.
        """

    def whole(self, payload: Any) -> Delta:
        """Read a complete response that is not a stream, decoded from JSON.

        Raises:
            MalformedError: It is not what the protocol sends.
        """


class MalformedError(ValueError):
    """JSON, but not of the protocol's shape."""


def request_body(generation: Generation, **question: Any) -> dict[str, Any]:
    """The members that the OpenAI protocols share, around the question."""
    body: dict[str, Any] = {"model": generation.model, **question, "stream": generation.stream}
    if generation.stream:
        body["stream_options"] = {"include_usage": True}
    if generation.max_tokens is not None:
        body["max_tokens"] = generation.max_tokens
    if generation.temperature is not None:
        body["temperature"] = generation.temperature
    return body | dict(generation.extra_body)


def read_usage(payload: Mapping[str, Any]) -> Usage | None:
    """Read OpenAI's `usage` member; anything that is not a count is taken as not said."""
    usage = payload.get("usage")
    if not isinstance(usage, dict) or not usage:
        return None
    return Usage(
        _count(usage, "prompt_tokens"),
        _count(usage, "completion_tokens"),
        _count(usage.get("completion_tokens_details"), "reasoning_tokens"),
        _count(usage.get("prompt_tokens_details"), "cached_tokens"),
    )


def read_error(payload: Mapping[str, Any]) -> str | None:
    """Read an error in one of the shapes in which servers send it inside a body."""
    error = payload.get("error")
    if error is None and payload.get("object") == "error":
        error = payload
    if not error:
        return None
    if isinstance(error, dict):
        return str(error.get("message") or error.get("code") or error)
    return str(error)


def first_choice(payload: Any) -> Mapping[str, Any] | None:
    """The choice that an answer consists of; None in a frame without one, such as the usage frame.

    Raises:
        MalformedError: There are choices, but not in the protocol's shape.
    """
    if not isinstance(payload, dict):
        raise MalformedError("not a JSON object")
    choices = payload.get("choices")
    if not choices:
        return None
    if not isinstance(choices, list) or not isinstance(choices[0], dict):
        raise MalformedError("`choices` is not a list of objects")
    return choices[0]


def text(value: Any) -> str:
    """A text member: null and missing are empty.

    Raises:
        MalformedError: It is something else than a text.
    """
    if value is None:
        return ""
    if not isinstance(value, str):
        raise MalformedError(f"a text was expected, not {type(value).__name__}")
    return value


def _count(members: Any, key: str) -> int | None:
    value = members.get(key) if isinstance(members, dict) else None
    return value if type(value) is int and 0 <= value < MOST_TOKENS else None
