"""What a protocol has to say: how to ask, and what a piece of an answer means. Sans-IO."""

from __future__ import annotations

import json
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
    """What one piece of a response adds to the answer.

    Attributes:
        done: It is the end: what comes after it is no part of the answer.
        silent: It names the content and has none, and nothing else: perhaps a token without text so far.
    """

    content: str = ""
    reasoning: str = ""
    tool_calls: Sequence[Mapping[str, Any]] = ()
    finish_reason: str | None = None
    usage: Usage | None = None
    error: str | None = None
    done: bool = False
    silent: bool = False

    @property
    def carries_token(self) -> bool:
        """Whether it has something that the model generated: text, reasoning or a part of a tool call."""
        return bool(self.content or self.reasoning or self.tool_calls)


class Codec(Protocol):
    """One protocol: one file. `[DONE]` is understood for all of them, by who reads the stream."""

    @property
    def path(self) -> str:
        """Where requests go, below the base URL."""

    @property
    def models(self) -> str | None:
        """Where the models are listed, below the base URL; None where the protocol has no such list."""

    @property
    def announces_end(self) -> bool:
        """Whether a stream says itself that it is over; else the end of the HTTP message does."""

    @property
    def cumulative(self) -> bool:
        """Whether each frame has the whole text so far, not what is new of it."""

    def headers(self, api_key: str | None) -> dict[str, str]:
        """The headers of its own that the protocol asks for, those with the key among them."""

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


def bearer(api_key: str | None) -> dict[str, str]:
    """The key as OpenAI's protocols, and most servers, take it."""
    return {} if api_key is None else {"Authorization": f"Bearer {api_key}"}


def joined_prompt(sample: Sample) -> str:
    """The texts of a sample as one, for protocols that know no system prompt."""
    return sample.prompt if sample.system is None else f"{sample.system}\n\n{sample.prompt}"


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
        count(usage, "prompt_tokens"),
        count(usage, "completion_tokens"),
        count(usage.get("completion_tokens_details"), "reasoning_tokens"),
        count(usage.get("prompt_tokens_details"), "cached_tokens"),
    )


def read_error(payload: Mapping[str, Any]) -> str | None:
    """Read an error in one of the shapes in which servers send it inside a body."""
    error = payload.get("error")
    if not error and "error" in (payload.get("object"), payload.get("type")):
        error = payload
    if not error:
        return None
    if isinstance(error, dict):
        return str(error.get("message") or error.get("code") or error)
    return str(error)


def first_choice(payload: Any) -> Mapping[str, Any] | None:
    """The choice that an answer consists of; None in a frame without one, such as the usage frame.

    Where several answers to one question were asked for, the one with index 0 is the answer.

    Raises:
        MalformedError: There are choices, but not in the protocol's shape.
    """
    if not isinstance(payload, dict):
        raise MalformedError("not a JSON object")
    choices = payload.get("choices")
    if not choices:
        return None
    if not isinstance(choices, list):
        raise MalformedError("`choices` is not a list of objects")
    for choice in choices:
        if not isinstance(choice, dict):
            raise MalformedError("`choices` is not a list of objects")
        if not choice.get("index"):
            return choice
    return None


def members(payload: Any, what: str = "the payload") -> dict[str, Any]:
    """A JSON object.

    Raises:
        MalformedError: It is something else.
    """
    if not isinstance(payload, dict):
        raise MalformedError(f"{what} is not a JSON object")
    return payload


def event_type(payload: Any) -> str:
    """The `type` of an event; empty for an object without members, which says nothing.

    The event's name in the stream says the same, but some proxies leave it out.

    Raises:
        MalformedError: It has none.
    """
    kind = type_of(members(payload))
    if payload and not kind:
        raise MalformedError("it has no `type`")
    return kind


def type_of(payload: Mapping[str, Any]) -> str:
    """The `type` of an object, empty where it has none."""
    kind = payload.get("type")
    return kind if isinstance(kind, str) else ""


def objects(value: Any, what: str) -> Sequence[dict[str, Any]]:
    """A list of JSON objects; null and missing are empty.

    Raises:
        MalformedError: It is something else.
    """
    if value is None:
        return ()
    if not isinstance(value, list) or not all(isinstance(part, dict) for part in value):
        raise MalformedError(f"{what} is not a list of objects")
    return value


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


def written(value: Any) -> str:
    """A value as JSON, where a text belongs: what a tool is called with is an object for some servers.

    Raises:
        MalformedError: It is nested more deeply than anybody reads.
    """
    try:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    except RecursionError as error:
        raise MalformedError("it is nested too deeply") from error


def count(counts: Any, key: str) -> int | None:
    """A count of tokens, None where there is none under this key: what is no count was not said."""
    value = counts.get(key) if isinstance(counts, dict) else None
    return value if type(value) is int and 0 <= value < MOST_TOKENS else None
