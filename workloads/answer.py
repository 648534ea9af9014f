"""The logged answer of an endpoint to one question: the input of a scorer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lazy_dataclasses import dataclass, field

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True)
class EpisodeOutcome:
    """The ending of an episode, and the return value of the episode's code.

    Attributes:
        ending: `completed`, or the limit that ended it: `max_turns`, `max_tokens`, `max_time`, `max_cost`.
        reward: Its own reward; None where it has none.
        messages: The whole conversation, tools and the user included.
        details: Further facts, as its code returned them.
    """

    ending: str
    reward: float | None = None
    messages: tuple[Mapping[str, Any], ...] = ()
    details: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Answer:
    """One answer.

    Attributes:
        text: The output without the reasoning, tags included; empty where there is none.
        reasoning: What the server distinguished from it as reasoning.
        tool_calls: The calls of tools, in OpenAI's format: `{"function": {"name", "arguments"}}`, where the
            arguments are JSON text.
        finish_reason: As the server reports it: `length` for a truncated answer.
        messages: The question, as chat messages.
        earlier: In a conversation, the answers to the turns before this one, the last.
        judged: What judges said, by the keys of the inquiries (`Inquiry.key`); empty until they are asked.
        episode: Of an episode, its outcome.
    """

    text: str
    reasoning: str | None = None
    tool_calls: tuple[Mapping[str, Any], ...] = ()
    finish_reason: str | None = None
    messages: tuple[Mapping[str, Any], ...] = ()
    earlier: tuple[str, ...] = ()
    judged: Mapping[str, str] = field(default_factory=dict)
    episode: EpisodeOutcome | None = None
