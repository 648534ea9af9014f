"""Whether each question can be asked: by the protocol, and with the chosen options."""

from __future__ import annotations

from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING

from loadgen.driver.errors import CannotAskError
from loadgen.sessions.errors import UsageError
from workloads.conversation_sample import conversation_of
from workloads.sample import examples

if TYPE_CHECKING:
    from loadgen.driver.client.codec import Codec, Generation
    from loadgen.sessions.settings.prompt_options import PromptSettings
    from workloads.conversation_sample import ConversationSample
    from workloads.dataset import Dataset
    from workloads.sample import Sample


def require_askable(dataset: Dataset, prompts: PromptSettings, codec: Codec, generation: Generation) -> None:
    """Check each question with more than a text, including all follow-up turns."""
    answered = prompts.history == "answered"
    for sample in map(conversation_of, examples(dataset.samples)):
        if generation.ignore_eos and not _bounded(sample, generation):
            raise UsageError(
                f"{_place(dataset, sample)}: --ignore-eos needs the number of output tokens, which the row "
                "lacks; give --max-tokens"
            )
        if answered and any(
            message["role"] == "tool" for turn in sample.follow_ups for message in turn.messages
        ):
            raise UsageError(
                f"{_place(dataset, sample)}: a later turn has the result of a tool call, which the "
                "endpoint's answer may lack; give --history recorded"
            )
        if prompts.history == "recorded" and any(turn.recorded is None for turn in sample.follow_ups):
            raise UsageError(
                f"{_place(dataset, sample)}: --history recorded: a turn has no recorded answer before it; "
                "leave --history out to use the endpoint's answers"
            )
        if prompts.salt and sample.token_ids is not None:
            raise UsageError(
                f"{_place(dataset, sample)}: --salt puts a text before each prompt, but the prompt is "
                "tokens; leave --salt out"
            )
        if sample.chat is not None or sample.token_ids is not None or sample.tools or sample.follow_ups:
            try:
                codec.request(_whole(sample), generation)
            except CannotAskError as error:
                raise UsageError(f"{_place(dataset, sample)}: {error}") from error


def _place(dataset: Dataset, sample: Sample) -> str:
    return f"{dataset.name}, row {sample.index + 1}"


def _bounded(sample: ConversationSample, generation: Generation) -> bool:
    bounds = (sample.max_tokens, *(turn.max_tokens for turn in sample.follow_ups))
    return generation.max_tokens is not None or None not in bounds


def _whole(sample: ConversationSample) -> Sample:
    """All turns of a conversation as one question."""
    if not sample.follow_ups:
        return sample
    later = chain.from_iterable(
        (turn.recorded or {"role": "assistant", "content": ""}, *turn.messages) for turn in sample.follow_ups
    )
    return replace(sample, system=None, chat=(*sample.messages(), *later))
