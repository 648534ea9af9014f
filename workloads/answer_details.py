"""Parts of a response besides the text: details of an answer, or a rejection."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping


class Rejection(NamedTuple):
    """An HTTP error of the endpoint.

    Attributes:
        status: From 400.
        content_type: Of the body.
        body: As text.
        headers: `retry-after` and others by which a client decides what to do next.
    """

    status: int
    content_type: str
    body: str
    headers: Mapping[str, str]


class AnswerDetails(NamedTuple):
    """The parts of an answer besides the message.

    Attributes:
        reasoning: The text that the server marks as reasoning.
        reasoning_tokens: By the server's count.
        cached_tokens: Input tokens from the server's cache, by its count.
        logprobs: OpenAI's `logprobs`, where the request asked for them.
    """

    reasoning: str = ""
    reasoning_tokens: int | None = None
    cached_tokens: int | None = None
    logprobs: Mapping[str, Any] | None = None
