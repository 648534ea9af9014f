"""From settings to prompts of given lengths."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

from loadgen.sessions.errors import UsageError

if TYPE_CHECKING:
    from loadgen.sessions.settings.perf import PerfSettings
    from workloads.dataset import Dataset
    from workloads.synthetic.corpus import Corpus

MOST_TURNS: Final = 1_000
"""Of a conversation."""


def has_options(settings: PerfSettings) -> bool:
    """Whether an option sets the lengths or the texts of synthetic prompts."""
    options = (settings.input_tokens, settings.output_tokens, settings.turns, settings.shared_prefix)
    return any(option is not None for option in (*options, settings.corpus, settings.tokenizer))


def made_to_length(settings: PerfSettings, count: int) -> Dataset:
    """Make prompts.

    Args:
        settings: The settings.
        count: The number of prompts.

    Raises:
        UsageError, WorkloadError: An option cannot be used; which, and why.
    """
    from loadgen.sessions.settings.tokenizer import counter
    from workloads.lengths import lengths
    from workloads.synthetic.prefixes import shared_prefix
    from workloads.synthetic.to_length import DEFAULT_LENGTHS, Wanted, prompts_to_length

    wanted = Wanted(
        count=count,
        input_tokens=lengths("--input-tokens", settings.input_tokens or DEFAULT_LENGTHS),
        output_tokens=lengths("--output-tokens", settings.output_tokens) if settings.output_tokens else None,
        turns=lengths("--turns", settings.turns, MOST_TURNS) if settings.turns else None,
        prefix=shared_prefix("--shared-prefix", settings.shared_prefix) if settings.shared_prefix else None,
        corpus=corpus_of(settings),
        seed=settings.seed,
    )
    return prompts_to_length(wanted, counter(settings.tokenizer))


def corpus_of(settings: PerfSettings) -> Corpus | None:
    """The text that prompts are cut from, if an option names one.

    Raises:
        UsageError: It cannot be read.
    """
    if settings.corpus is None:
        return None
    from workloads.errors import WorkloadError
    from workloads.synthetic.corpus import read_corpus

    try:
        return read_corpus(Path(settings.corpus))
    except WorkloadError as error:
        raise UsageError(f"--corpus {error}") from error
