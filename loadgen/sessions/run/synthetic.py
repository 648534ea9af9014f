"""From settings to prompts of given lengths."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

from loadgen.sessions.errors import UsageError
from loadgen.sessions.settings.tokenizer_options import counter
from workloads.errors import WorkloadError
from workloads.lengths import lengths
from workloads.synthetic.to_length import (
    DEFAULT_LENGTHS,
    Corpus,
    Wanted,
    prompts_to_length,
    read_corpus,
    shared_prefix,
)

if TYPE_CHECKING:
    from loadgen.sessions.settings.prompt_options import PromptSettings
    from workloads.dataset import Dataset

MOST_TURNS: Final = 1_000
"""Of a conversation."""


def synthetic_dataset(prompts: PromptSettings, count: int, seed: int) -> Dataset:
    """Make prompts."""
    wanted = Wanted(
        count=count,
        input_tokens=lengths("--input-tokens", prompts.input_tokens or DEFAULT_LENGTHS),
        output_tokens=lengths("--output-tokens", prompts.output_tokens) if prompts.output_tokens else None,
        turns=lengths("--turns", prompts.turns, MOST_TURNS) if prompts.turns else None,
        prefix=shared_prefix("--shared-prefix", prompts.shared_prefix) if prompts.shared_prefix else None,
        corpus=corpus_of(prompts),
        seed=seed,
        salt=prompts.text_seed or 0,
    )
    if prompts.cache_hit is None:
        return prompts_to_length(wanted, counter(prompts.tokenizer))
    from workloads.registry import service

    dataset: Dataset = service("prompts_with_hits")(wanted, prompts, counter(prompts.tokenizer))
    return dataset


def corpus_of(prompts: PromptSettings) -> Corpus | None:
    """The text that prompts are cut from, if an option names one."""
    if prompts.corpus is None:
        return None
    try:
        return read_corpus(Path(prompts.corpus))
    except WorkloadError as error:
        raise UsageError(f"--corpus {error}") from error
