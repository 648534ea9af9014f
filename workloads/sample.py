"""One question of a dataset: the content of one request, or the first turn of a conversation."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

Message = Mapping[str, Any]
"""A chat message in OpenAI's format: `role`, `content`, and what else a role has."""


@dataclass(frozen=True, slots=True)
class FollowUp:
    """The user's next turn in a conversation.

    Attributes:
        messages: The new messages; mostly one of the user's.
        recorded: The answer that the dataset has for the turn before, which takes the endpoint's place where
            recorded answers are wanted.
        max_tokens: See `Sample.max_tokens`.
    """

    messages: tuple[Message, ...]
    recorded: Message | None = None
    max_tokens: int | None = None


@dataclass(frozen=True, slots=True)
class Sample:
    """One question.

    Attributes:
        index: Its position in the dataset, from 0.
        prompt: The user's text; of a chat, the last text that a user says in it.
        system: The system prompt, if there is one.
        chat: The messages as they are, in place of `prompt` and `system`.
        token_ids: The prompt as the model's tokens, in place of `prompt`; for completions only.
        tools: What the model may call, in OpenAI's format.
        max_tokens: The most output tokens, where the dataset says; it wins over the session's.
        temperature: The sampling temperature, where the dataset says; it wins over the session's.
        tags: Columns of the dataset that figures are grouped by.
        follow_ups: What comes after the answer, turn by turn.
        turn: Which turn of its conversation this is, from 0.
        logged: How many of its messages are in the log already, with the answer to the turn before.
    """

    index: int
    prompt: str = ""
    system: str | None = None
    chat: tuple[Message, ...] | None = None
    token_ids: tuple[int, ...] | None = None
    tools: tuple[Mapping[str, Any], ...] = ()
    max_tokens: int | None = None
    temperature: float | None = None
    tags: Mapping[str, str] = field(default_factory=dict)
    follow_ups: tuple[FollowUp, ...] = ()
    turn: int = 0
    logged: int = 0

    @property
    def has_several_turns(self) -> bool:
        """Whether further turns may follow."""
        return bool(self.follow_ups)

    def content(self) -> list[Any]:
        """All that is asked, for a checksum."""
        return [self.messages(), self.token_ids, self.tools, self.follow_ups]

    def messages(self) -> list[Message]:
        """The question as chat messages."""
        if self.chat is not None:
            return list(self.chat)
        before = [] if self.system is None else [{"role": "system", "content": self.system}]
        return [*before, {"role": "user", "content": self.prompt}]

    def with_system(self, text: str) -> Sample:
        """The question with a system prompt; the sample's own system prompt follows after a blank line."""
        if self.chat is None:
            return replace(self, system=text if self.system is None else f"{text}\n\n{self.system}")
        first, *others = self.chat
        if first.get("role") == "system" and isinstance(first.get("content"), str):
            return replace(self, chat=({**first, "content": f"{text}\n\n{first['content']}"}, *others))
        return replace(self, chat=({"role": "system", "content": text}, *self.chat))

    def new_messages(self) -> list[Message]:
        """The messages that no earlier turn has logged."""
        return self.messages()[self.logged :]

    def after(self, answer: Message) -> Sample:
        """The next turn of the conversation: all earlier messages, the answer, and the next user turn.

        Args:
            answer: The assistant's message.
        """
        following, *later = self.follow_ups
        messages, before = following.messages, (*self.messages(), answer)
        return replace(
            self,
            prompt=last_text(messages),
            system=None,
            chat=(*before, *messages),
            max_tokens=following.max_tokens,
            follow_ups=tuple(later),
            turn=self.turn + 1,
            logged=len(before),
        )


def last_text(messages: Sequence[Message]) -> str:
    """The last text among messages; empty where there is none."""
    texts = (message["content"] for message in reversed(messages) if isinstance(message.get("content"), str))
    return next(texts, "")


def examples(samples: Sequence[Sample]) -> Sequence[Sample]:
    """At least one sample of each kind: all samples, unless they are made on demand.

    Those that are made differ in their texts and in how many turns they have, in nothing else; a check need
    not make a million of them.
    """
    made: Callable[[], Sequence[Sample]] | None = getattr(samples, "examples", None)
    return samples if made is None else made()
