"""Whether every question can be sent with the settings: checked before the first request."""

from __future__ import annotations

from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING

from loadgen.driver.errors import CannotAskError
from loadgen.sessions.errors import UsageError
from workloads.sampled_check import examples

if TYPE_CHECKING:
    from loadgen.driver.client.codec import Codec, Generation
    from loadgen.sessions.settings.prompts import PromptSettings
    from workloads.dataset import Dataset
    from workloads.sample import FollowUp, Sample


def require_askable(dataset: Dataset, prompts: PromptSettings, codec: Codec, generation: Generation) -> None:
    """Check each question with more than a text, including all follow-up turns.

    Raises:
        UsageError: A question cannot be sent; which, and why.
    """
    answered = prompts.history == "answered"
    for sample in examples(dataset.samples):
        if generation.ignore_eos and not _bounded(sample, generation):
            raise UsageError(
                f"{_place(dataset, sample)}: --ignore-eos needs the number of output tokens, which the row "
                "lacks; give --max-tokens"
            )
        if answered and any(map(_brings_results, sample.follow_ups)):
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


def _bounded(sample: Sample, generation: Generation) -> bool:
    bounds = (sample.max_tokens, *(turn.max_tokens for turn in sample.follow_ups))
    return generation.max_tokens is not None or None not in bounds


def _brings_results(turn: FollowUp) -> bool:
    return any(message["role"] == "tool" for message in turn.messages)


def _whole(sample: Sample) -> Sample:
    """All turns of a conversation as one question."""
    if not sample.follow_ups:
        return sample
    later = chain.from_iterable(
        (turn.recorded or {"role": "assistant", "content": ""}, *turn.messages) for turn in sample.follow_ups
    )
    return replace(sample, system=None, chat=(*sample.messages(), *later))
