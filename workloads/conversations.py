"""Which turns of a recorded conversation are asked.

A turn is everything from one answer to the next: what the user says, the results of the tools that the answer
before it called, or a new system message. What is asked is

    first   the first turn: everything before the first answer to the user
    last    everything before the last answer, recorded answers included, as one request
    all     every turn, one after the other

so that `all`, played with the recorded answers, begins as `first` does and ends as `last` does. What an
assistant says before the user has said anything belongs to the first turn, and the answer to the last one is
asked of the endpoint, so that it is not needed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

from workloads.chats import in_openai_format, is_sharegpt, read_message, role_of
from workloads.conversation_sample import ConversationSample, FollowUp
from workloads.errors import PromptError
from workloads.sample import Sample, last_text
from workloads.sources import kind

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from workloads.sample import Message

Take = Literal["first", "last", "all"]
"""Which turns are asked."""

_ASKING: Final = frozenset({"user", "tool"})
_PLAIN: Final = {"role", "content"}


class Conversation(NamedTuple):
    """The parts of a conversation that are asked."""

    opening: tuple[Message, ...]
    follow_ups: tuple[FollowUp, ...] = ()


def read_conversation(place: str, value: Sequence[Any], take: Take) -> Conversation:
    """The turns to ask from a list of messages, in OpenAI's or ShareGPT's format, or raise `PromptError`.

    Only what is sent, or may be, has to be sound.
    """
    raw = [_message(f"{place}, message {number}", message) for number, message in enumerate(value, start=1)]
    roles = [role_of(f"{place}, message {number}", message) for number, message in enumerate(raw, start=1)]
    if "user" not in roles:
        raise PromptError(f"{place}: no user says anything in the conversation; drop the row")
    end = _end(roles, take)
    messages = [
        read_message(f"{place}, message {number}", message)
        for number, message in enumerate(raw[:end], start=1)
    ]
    _check_results(place, messages)
    return _in_turns(place, messages) if take == "all" else Conversation(tuple(messages))


def question(index: int, conversation: Conversation, tools: tuple[Mapping[str, Any], ...]) -> Sample:
    """The sample of a conversation; a plain one for a single prompt, with or without a system prompt."""
    opening = conversation.opening
    plain = all(message.keys() == _PLAIN and isinstance(message["content"], str) for message in opening)
    match [message["role"] for message in opening] if plain else ():
        case ["user"]:
            prompt, system, chat = opening[0]["content"], None, None
        case ["system", "user"]:
            prompt, system, chat = opening[1]["content"], opening[0]["content"], None
        case _:
            users = [message for message in opening if message["role"] == "user"]
            prompt, system, chat = last_text(users), None, opening
    if not conversation.follow_ups:
        return Sample(index, prompt, system, chat, tools=tools)
    return ConversationSample(index, prompt, system, chat, tools=tools, follow_ups=conversation.follow_ups)


def with_system(place: str, conversation: Conversation, system: str | None) -> Conversation:
    """The conversation with the row's separate system prompt; raise `PromptError` if there are two."""
    if system is None:
        return conversation
    own = [message["content"] for message in conversation.opening if message["role"] == "system"]
    if own and own != [system]:
        raise PromptError(
            f"{place}: the conversation has a system message, and the row another system prompt; leave one "
            "out"
        )
    before: Message = {"role": "system", "content": system}
    return conversation if own else conversation._replace(opening=(before, *conversation.opening))


def _message(place: str, message: Any) -> Mapping[str, Any]:
    if not isinstance(message, dict):
        raise PromptError(f"{place}: {kind(message)}, where a message should be: an object with a role")
    return in_openai_format(place, message) if is_sharegpt(message) else message


def _end(roles: Sequence[str], take: Take) -> int:
    """How many of the messages may be sent: those before the answer to the turn that is asked last."""
    asking = [number for number, role in enumerate(roles) if role in _ASKING]
    asked = asking[0] if take == "first" else asking[-1]
    return next((n for n in range(asked, len(roles)) if roles[n] == "assistant"), len(roles))


def _in_turns(place: str, messages: Sequence[Message]) -> Conversation:
    """Cut at the answers."""
    turns: list[list[Message]] = [[]]
    answers: list[Message] = []
    asks = False
    for number, message in enumerate(messages, start=1):
        if message["role"] == "assistant" and asks:
            answers.append(message)
            turns.append([])
            asks = False
        elif message["role"] == "assistant" and answers:
            raise PromptError(
                f"{place}, message {number}: two answers in a row; --conversations last accepts them"
            )
        else:
            turns[-1].append(message)
            asks = asks or message["role"] in _ASKING
    opening, *later = map(tuple, turns)
    follow_ups = (
        FollowUp(later_messages, recorded) for later_messages, recorded in zip(later, answers, strict=True)
    )
    return Conversation(opening, tuple(follow_ups))


def _check_results(place: str, messages: Sequence[Message]) -> None:
    """Make sure that each result of a tool has been called for."""
    called: set[str] = set()
    for number, message in enumerate(messages, start=1):
        called.update(call["id"] for call in message.get("tool_calls", ()))
        if message["role"] == "tool" and message["tool_call_id"] not in called:
            raise PromptError(
                f"{place}, message {number}: the result of the call {message['tool_call_id']!r}, which no "
                "message before it makes"
            )
