"""The input and the result of an episode's code.

An episode is an async function:

    async def play(sample, ask, sandbox):
        messages = sample.messages()
        reply = await ask(messages)
        ...
        return EpisodeResult(messages)

Each `ask` is a request to the endpoint: a measured turn in the log.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from lazy_dataclasses import dataclass, field
from workloads.answer_details import AnswerDetails
from workloads.errors import WorkloadError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from contextlib import AbstractContextManager

    from workloads.answer_details import Rejection
    from workloads.sample import Message


class EpisodeError(WorkloadError):
    """The reason why an episode cannot ask another turn. Raised by `ask`; ends the episode if not caught.

    Attributes:
        ending: The ending of the episode, as the log keeps it.
    """

    ending = "failed"


class TurnFailedError(EpisodeError):
    """A request to the model failed.

    Args:
        rejection: The HTTP error that answered; None where none did.
    """

    def __init__(self, message: str, rejection: Rejection | None = None) -> None:
        super().__init__(message)
        self.rejection = rejection


class UserFailedError(EpisodeError):
    """A request to the simulated user failed: that says nothing of the model."""

    ending = "user_failed"


class LimitReachedError(EpisodeError):
    """A limit of the episode is reached.

    Args:
        limit: `turns`, `tokens`, `time` or `cost`.
    """

    def __init__(self, limit: str, message: str) -> None:
        super().__init__(message)
        self.ending = f"max_{limit}"


class EpisodeCutError(EpisodeError):
    """The session ends: the duration is over, or a stop was requested."""

    ending = "cut"


class ToolCall(NamedTuple):
    """A tool call whose arguments are a JSON object."""

    identifier: str
    name: str
    arguments: dict[str, Any]


class Reply(NamedTuple):
    """A model's answer to one `ask`.

    Attributes:
        message: The assistant's message in OpenAI's format, with `tool_calls` where it called tools.
        finish_reason: As the server sent it.
        input_tokens: By the server's count; None where it sent none.
        output_tokens: By the server's count, else the number of chunks.
        details: Reasoning, log probabilities and further counts.
    """

    message: Message
    finish_reason: str | None = None
    input_tokens: int | None = None
    output_tokens: int = 0
    details: AnswerDetails = AnswerDetails()

    @property
    def usage(self) -> dict[str, Any]:
        """The counts as OpenAI's `usage`."""
        prompt, completion = self.input_tokens or 0, self.output_tokens
        counts: dict[str, Any] = {
            "prompt_tokens": prompt,
            "completion_tokens": completion,
            "total_tokens": prompt + completion,
        }
        if self.details.cached_tokens is not None:
            counts["prompt_tokens_details"] = {"cached_tokens": self.details.cached_tokens}
        if self.details.reasoning_tokens is not None:
            counts["completion_tokens_details"] = {"reasoning_tokens": self.details.reasoning_tokens}
        return counts

    @property
    def text(self) -> str:
        """The text of the answer; empty for an answer of tool calls only."""
        return self.message.get("content") or ""

    @property
    def tool_calls(self) -> Sequence[Mapping[str, Any]]:
        """The calls of tools, in OpenAI's format."""
        return tuple(self.message.get("tool_calls") or ())

    def read_calls(self) -> list[ToolCall] | None:
        """The calls of tools; None where the arguments of one cannot be read."""
        calls = []
        for call in self.tool_calls:
            function = call.get("function") or {}
            try:
                arguments = json.loads(function.get("arguments") or "{}")
            except ValueError:
                return None
            if not isinstance(arguments, dict):
                return None
            calls.append(ToolCall(call.get("id", ""), str(function.get("name")), arguments))
        return calls


@dataclass(slots=True)
class ToolRecord:
    """A tool call in progress; the log gets the record at the end.

    Attributes:
        name: The tool.
        arguments: As JSON text, or as values.
        result: What the tool returned, as text; set by the code that calls it.
        error: Why it failed; an exception that leaves the block sets it.
        duration_ms: How long the tool took, where the caller measured it; None for the length of the block.
    """

    name: str
    arguments: Any = None
    result: str | None = None
    error: str | None = None
    duration_ms: float | None = None


class Ask(Protocol):
    """Asks the endpoint. One for each episode.

    Attributes:
        turns: How many turns the endpoint has been asked so far.
        max_turns: The limit of turns; None for none.
    """

    turns: int
    max_turns: int | None

    async def __call__(
        self,
        messages: Sequence[Message],
        *,
        tools: Sequence[Mapping[str, Any]] = (),
        max_tokens: int | None = None,
        temperature: float | None = None,
        body: Mapping[str, Any] | None = None,
    ) -> Reply:
        """Ask one turn.

        Args:
            messages: The whole conversation so far, in OpenAI's format.
            tools: What the model may call, in OpenAI's format.
            max_tokens: The most output tokens; None for the limit of the sample or the session.
            temperature: The sampling temperature; None for that of the sample or the session.
            body: Further members of the request's body.

        Raises:
            TurnFailedError: The request failed.
            LimitReachedError: A limit of the episode is reached.
            EpisodeCutError: The session ends.
        """

    async def user(
        self,
        messages: Sequence[Message],
        *,
        tools: Sequence[Mapping[str, Any]] = (),
        temperature: float | None = None,
    ) -> Reply:
        """Ask the simulated user: the second endpoint, in the log with the role `user_sim`.

        Args:
            messages: The conversation as the user sees it.
            tools: What the user may call, in OpenAI's format.
            temperature: The sampling temperature; None for that of the users.

        Raises:
            UserFailedError: The request failed, or no such endpoint is set.
            EpisodeCutError: The session ends.
        """

    def tool(self, name: str, arguments: Any = None) -> AbstractContextManager[ToolRecord]:
        """A block in which a tool runs: the log gets name, duration, arguments and result."""


@dataclass(frozen=True, slots=True)
class EpisodeResult:
    """The result of an episode.

    Attributes:
        messages: The whole conversation.
        reward: The episode's own reward, where its code computes one.
        finish_reason: Why the code ended it.
        error: Why the episode failed, in the words of its code; None for a success.
        details: Further facts for a scorer, as JSON values.
    """

    messages: Sequence[Message] = ()
    reward: float | None = None
    finish_reason: str = "stop"
    error: str | None = None
    details: Mapping[str, Any] = field(default_factory=dict)


def as_result(value: Any) -> EpisodeResult:
    """Convert the return value of an episode's code: a result, text, messages, a reward or None.

    Raises:
        TypeError: It is something else.
    """
    match value:
        case EpisodeResult():
            return value
        case None:
            return EpisodeResult()
        case bool() | int() | float():
            return EpisodeResult(reward=float(value))
        case str():
            return EpisodeResult(({"role": "assistant", "content": value},))
        case Reply():
            return EpisodeResult((value.message,))
        case list() | tuple() if all(isinstance(message, Mapping) for message in value):
            return EpisodeResult(tuple(value))
    raise TypeError(f"the episode returned {type(value).__name__}, where an EpisodeResult should be")
