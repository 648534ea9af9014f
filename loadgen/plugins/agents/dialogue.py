"""An episode in which a benchmark reacts to answers with the user's next message."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from loadgen.plugins.agents.episode import EpisodeResult
from workloads.episode_program import EpisodeProgram, imported

if TYPE_CHECKING:
    from collections.abc import Mapping

    from loadgen.plugins.agents.episode import Ask
    from workloads.episode_program import EpisodeSample
    from workloads.sample import Message, Sample
    from workloads.workload import MultiTurn


def reacting_to(multi_turn: MultiTurn, row: Mapping[str, Any]) -> EpisodeProgram:
    """The episode of a question from a benchmark with a hook."""
    hook = f"{multi_turn.__module__}:{multi_turn.__qualname__}"
    return EpisodeProgram(f"{__name__}:reacting", {"hook": hook, "row": row})


async def reacting(sample: EpisodeSample, ask: Ask, sandbox: object) -> EpisodeResult:  # noqa: ARG001 (the contract)
    """The episode of a sample from a benchmark with a hook `multi_turn`, named by `data["hook"]`."""
    data = sample.episode.data
    return await dialogue(ask, sample, data["row"], imported(data["hook"]))


async def dialogue(ask: Ask, sample: Sample, data: Mapping[str, Any], multi_turn: MultiTurn) -> EpisodeResult:
    """Ask the sample, then the hook's messages, until the hook returns none; raise `EpisodeError`."""
    conversation: list[Message] = sample.messages()
    while True:
        reply = await ask(conversation, tools=sample.tools)
        conversation.append(reply.message)
        following = multi_turn(data, tuple(conversation))
        if not following:
            return EpisodeResult(conversation, finish_reason=reply.finish_reason or "stop")
        messages = [{"role": "user", "content": following}] if isinstance(following, str) else following
        conversation.extend(messages)
