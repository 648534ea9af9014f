"""A question that opens a conversation, and the user's later turns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lazy_dataclasses import dataclass, fields, replace
from workloads.sample import Message, Sample, last_text

if TYPE_CHECKING:
    from collections.abc import Callable


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


@dataclass(frozen=True, slots=True, kw_only=True)
class ConversationSample(Sample):
    """The first turn of a conversation, with the later ones.

    Attributes:
        follow_ups: What comes after the answer, turn by turn.
    """

    follow_ups: tuple[FollowUp, ...] = ()

    @property
    def has_several_turns(self) -> bool:
        """Whether further turns follow."""
        return bool(self.follow_ups)

    def content(self) -> list[Any]:
        """All that is asked, for a checksum."""
        return [self.messages(), self.token_ids, self.tools, self.follow_ups]

    def after(self, answer: Message) -> ConversationSample:
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


def conversation_of(sample: Sample) -> ConversationSample:
    """A sample as a conversation; of one turn unless the sample has follow-ups."""
    if isinstance(sample, ConversationSample):
        return sample
    return ConversationSample(**{field.name: getattr(sample, field.name) for field in fields(Sample)})


def with_limits(sample: Sample, limit: Callable[[int | None], int | None]) -> Sample:
    """A sample whose turns have other limits of output tokens, each made of the turn's own."""
    limited = replace(sample, max_tokens=limit(sample.max_tokens))
    if not isinstance(limited, ConversationSample):
        return limited
    later = (replace(turn, max_tokens=limit(turn.max_tokens)) for turn in limited.follow_ups)
    return replace(limited, follow_ups=tuple(later))
