"""A scripted model and a scripted user for the episodes of tasks."""

from __future__ import annotations

import asyncio
import json
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from loadgen.plugins.agents.episode import Reply, ToolRecord
from loadgen.plugins.agents.rollout import EpisodePlayer
from workloads.answer import Answer, EpisodeOutcome
from workloads.episode_program import EpisodeSample

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from workloads.question import Question


def saying(text: str) -> dict[str, Any]:
    """A message without calls."""
    return {"role": "assistant", "content": text}


def calling(*calls: tuple[str, Mapping[str, Any] | str]) -> dict[str, Any]:
    """A message that calls tools; arguments that are text are sent as they are."""
    made = [
        {
            "id": str(number),
            "type": "function",
            "function": {
                "name": name,
                "arguments": arguments if isinstance(arguments, str) else json.dumps(arguments),
            },
        }
        for number, (name, arguments) in enumerate(calls)
    ]
    return {"role": "assistant", "content": None, "tool_calls": made}


@dataclass(frozen=True)
class Request:
    """What was asked.

    Attributes:
        messages: The conversation.
        tools: The tools.
    """

    messages: list[Mapping[str, Any]]
    tools: list[Mapping[str, Any]]


@dataclass
class ScriptedAsk:
    """Answers with one message after the other.

    Attributes:
        replies: Of the model, still to come.
        users: Of the user, still to come.
        requests: To the model.
        user_requests: To the user.
        tools: The calls of tools.
    """

    replies: list[dict[str, Any]]
    users: list[dict[str, Any]] = field(default_factory=list)
    requests: list[Request] = field(default_factory=list)
    user_requests: list[Request] = field(default_factory=list)
    tools: list[ToolRecord] = field(default_factory=list)
    turns: int = 0
    max_turns: int | None = None

    def __post_init__(self) -> None:
        """Its own script."""
        self.replies, self.users = list(self.replies), list(self.users)

    async def __call__(
        self, messages: Sequence[Mapping[str, Any]], *, tools: Sequence[Mapping[str, Any]] = (), **_: Any
    ) -> Reply:
        """The model's next message."""
        self.requests.append(Request(list(messages), list(tools)))
        return Reply(self.replies.pop(0), "stop")

    async def user(
        self, messages: Sequence[Mapping[str, Any]], *, tools: Sequence[Mapping[str, Any]] = (), **_: Any
    ) -> Reply:
        """The user's next message."""
        self.user_requests.append(Request(list(messages), list(tools)))
        return Reply(self.users.pop(0), "stop")

    @contextmanager
    def tool(self, name: str, arguments: Any = None) -> Iterator[ToolRecord]:
        """A call of a tool."""
        record = ToolRecord(name, arguments)
        self.tools.append(record)
        yield record


def played(question: Question, ask: ScriptedAsk) -> Answer:
    """Play the episode of a question; its answer, as the log would have it."""
    assert isinstance(question.sample, EpisodeSample)
    player = EpisodePlayer(question.sample.episode.code)
    result = asyncio.run(player.play(question.sample, ask, None))
    # As they come back from the log.
    details = json.loads(json.dumps(dict(result.details)))
    outcome = EpisodeOutcome("completed", result.reward, tuple(result.messages), details)
    says = [message for message in result.messages if message["role"] == "assistant"]
    texts = [message.get("content") or "" for message in says] or [""]
    return Answer(texts[-1], episode=outcome, earlier=tuple(texts[:-1]))
