"""A session of an agent: a tree of streams, each a sequence of turns.

The main agent is the first stream. A subagent is another stream: a turn of the parent spawns the subagent,
and a later turn of the parent joins the subagent, unless the subagent runs in the background. Spawn, join and
order have one form: a turn waits for the ends of other turns, then for a delay.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Any

from lazy_dataclasses import dataclass, field

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from workloads.sample import Message


class History(StrEnum):
    """What the rows of an input hold of the history of their session.

    A reader states the kind. Rows with whole prompts that are taken for increments send 66 to 69 % more
    prompt tokens than were recorded (ai-dynamo/dynamo#14184).
    """

    CUMULATIVE = "cumulative"
    """The length or the blocks of the whole prompt."""
    LIVE = "live"
    """New messages without answers; the answers of the endpoint take their places."""
    RECORDED = "recorded"
    """New messages, and the recorded answers."""
    MESSAGES = "messages"
    """The messages of the whole prompt."""


@dataclass(frozen=True, slots=True)
class AgentTurn:
    """One request of a session.

    Attributes:
        stream: The number of its stream in the session.
        after: The numbers of the turns that must have ended before, all smaller than the turn's number;
            without one, the delay counts from the start of the session.
        delay_ns: The wait after the last of those ends: think time, and the time of tools.
        tool_ns: The part of the delay that tools took; None where the input does not say.
        input_tokens: The tokens of the whole prompt as recorded; None where the input does not say.
        output_tokens: The tokens of the answer as recorded; None where the input does not say.
        blocks: The ids of the blocks of the whole prompt, equal where the text before is equal too.
        extends: The number of the turn whose prompt this prompt begins like; None for a prompt that begins
            afresh. It is mostly the turn before in the stream; of a fork, a turn of the parent.
        kept_blocks: How many blocks at the start are equal to those of `extends`.
        messages: The messages of the prompt: all of them, or the new ones; see `History`. A message with
            `tokens` in place of `content` has a made-up text of that length; equal in all sessions for an
            equal `text_id`.
        answer: The recorded answer.
        tools: What the model may call.
        members: Further members of the request's body, such as a temperature.
        model: The recorded model; empty where the input does not say.
        start_ns: When it began, from the start of the session, as recorded.
        end_ns: When it ended, from the start of the session, as recorded.
    """

    stream: int
    after: tuple[int, ...] = ()
    delay_ns: int = 0
    tool_ns: int | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    blocks: Sequence[int] = ()
    extends: int | None = None
    kept_blocks: int = 0
    messages: tuple[Message, ...] = ()
    answer: Message | None = None
    tools: tuple[Mapping[str, Any], ...] = ()
    members: Mapping[str, Any] = field(default_factory=dict)
    model: str = ""
    start_ns: int | None = None
    end_ns: int | None = None


@dataclass(frozen=True, slots=True)
class AgentStream:
    """An agent of a session.

    Attributes:
        name: The recorded id, unique in the session.
        parent: The number of the stream that spawned it; None for the main agent.
        kind: The recorded type of a subagent, such as `Explore`.
        is_background: Whether the parent does not wait for its end.
        system_tokens: The tokens of tool definitions and system prompt at the start of each prompt.
    """

    name: str
    parent: int | None = None
    kind: str = ""
    is_background: bool = False
    system_tokens: int = 0


@dataclass(frozen=True, slots=True)
class SessionTree:
    """A session: the unit of agentic load.

    Attributes:
        session_id: The recorded id.
        streams: The agents, of which the first is the main agent.
        turns: All turns in an order in which each comes after those that it waits for.
        history: What the turns hold of the history.
        block_tokens: The tokens of a block; 0 without blocks.
        arrival_ns: When it began, from the start of the trace; None where the input does not say.
        tags: Facts that figures are grouped by.
    """

    session_id: str
    streams: tuple[AgentStream, ...]
    turns: tuple[AgentTurn, ...]
    history: History
    block_tokens: int = 0
    arrival_ns: int | None = None
    tags: Mapping[str, str] = field(default_factory=dict)

    def depth(self, stream: int) -> int:
        """How many spawns are between the main agent and a stream."""
        parent = self.streams[stream].parent
        return 0 if parent is None else 1 + self.depth(parent)
