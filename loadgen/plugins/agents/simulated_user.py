"""An episode with a user that another model plays, at a second endpoint."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from lazy_dataclasses import dataclass, field
from loadgen.plugins.agents.episode import EpisodeResult
from loadgen.plugins.agents.tool_loop import Tool, tool_loop

if TYPE_CHECKING:
    from collections.abc import Sequence

    from loadgen.plugins.agents.episode import Ask
    from workloads.sample import Message

STOP: Final = "###STOP###"
"""What a simulated user says when the task is done (tau-bench)."""


@dataclass(slots=True)
class SimulatedUser:
    """A user played by a model, which sees the conversation from the other side.

    Args:
        instruction: Its system prompt: who it is, and what it wants.
        stop: Texts that end the conversation.
        greeting: What the assistant says first.
    """

    instruction: str
    stop: Sequence[str] = (STOP,)
    greeting: str = "Hi! How can I help you today?"
    _messages: list[Message] = field(default_factory=list)

    async def first(self, ask: Ask) -> str:
        """The user's first message."""
        self._messages = [{"role": "system", "content": self.instruction}]
        return await self.says(ask, self.greeting)

    async def says(self, ask: Ask, heard: str) -> str:
        """The user's message after an answer."""
        self._messages.append({"role": "user", "content": heard})
        reply = await ask.user(self._messages)
        self._messages.append({"role": "assistant", "content": reply.text})
        return reply.text

    def is_over(self, text: str) -> bool:
        """Whether the user has ended the conversation."""
        return any(word in text for word in self.stop)


async def converse(ask: Ask, user: SimulatedUser, system: str, tools: Sequence[Tool] = ()) -> EpisodeResult:
    """Let an assistant with tools talk to a simulated user until the user ends the conversation.

    Args:
        ask: Asks the model and the user.
        user: The user.
        system: The assistant's system prompt.
        tools: What the assistant may call.

    Raises:
        EpisodeError: No further turn can be asked.
    """
    conversation: Sequence[Message] = [{"role": "system", "content": system}]
    text = await user.first(ask)
    while not user.is_over(text):
        answered = await tool_loop(ask, [*conversation, {"role": "user", "content": text}], tools)
        conversation = answered.messages
        text = await user.says(ask, conversation[-1].get("content") or "")
    conversation = [*conversation, {"role": "user", "content": text}]
    return EpisodeResult(conversation, finish_reason="user_stop")
