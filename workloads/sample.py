"""One question of a dataset: the content of one request, or the first turn of a session."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from lazy_dataclasses import dataclass, field, replace

Message = Mapping[str, Any]
"""A chat message in OpenAI's format: `role`, `content`, and what else a role has."""


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
    turn: int = 0
    logged: int = 0

    @property
    def has_several_turns(self) -> bool:
        """Whether further turns may follow; samples that open such sessions are of other classes."""
        return False

    def content(self) -> list[Any]:
        """All that is asked, for a checksum."""
        later_turns = ()
        return [self.messages(), self.token_ids, self.tools, later_turns]

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
