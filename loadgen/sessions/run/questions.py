"""From settings to the questions of a run: of benchmarks, from a file, a dataset or a trace, or synthetic."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from loadgen.driver.load import Load, expected_arrivals
from loadgen.sessions.errors import UsageError
from loadgen.sessions.run.loads import DEFAULT_REQUESTS, warmup_of
from workloads.registry import service

if TYPE_CHECKING:
    from collections.abc import Sequence

    from loadgen.sessions.settings.load_options import LoadSettings
    from loadgen.sessions.settings.perf import PerfSettings
    from loadgen.sessions.settings.prompt_options import PromptSettings
    from workloads.dataset import Dataset

MOST_PROMPTS: Final = 10_000
"""The most synthetic prompts that are made, in about 0.1 s; a longer run repeats them."""


def dataset_of(settings: PerfSettings, count: int) -> Dataset:
    """The questions that settings name, with media; or the inputs of requests for vectors."""
    if settings.endpoint.protocol_entry.inputs:
        inputs: Dataset = service("vector_dataset")(settings, count)
        return inputs
    dataset = _dataset(settings, count)
    if made_by := settings.endpoint.protocol_entry.dataset:
        made: Dataset = service(made_by)(dataset, settings, count)
        return made
    settings.media.check_unused()
    if not settings.media.is_wanted:
        return dataset
    with_media: Dataset = service("with_media")(dataset, settings, count)
    return with_media


def _dataset(settings: PerfSettings, count: int) -> Dataset:
    tasks, prompts, load = settings.tasks, settings.prompts, settings.load
    if tasks.task:
        from loadgen.sessions.run.benchmark_questions import benchmark_questions

        return benchmark_questions(tasks, prompts.tag, settings.generation, load.seed)
    if load.trace is not None:
        from loadgen.sessions.run.replay import replayed

        return replayed(load, prompts, Path(load.trace))
    if prompts.agentic is not None:
        made_up: Dataset = service("made_up_sessions")(load, prompts)
        return made_up
    if prompts.prompts is None:
        dataset = _made_up(prompts, count, load.seed)
    else:
        dataset = _read(prompts, prompts.prompts, settings.media.media_column)
    return dataset if prompts.only_prompt is None else _only(dataset, prompts.only_prompt)


def count_of(settings: LoadSettings, only: int | None, load: Load, duration_s: float | None) -> int:
    """The number of synthetic prompts: enough to send none twice, as far as that is known, within bounds."""
    wanted = settings.requests or settings.sessions
    if wanted is None and duration_s is not None:
        wanted = _expected(load, duration_s)
    warmup, warmup_s = warmup_of(settings)
    if warmup_s is not None:
        warmup = _expected(load, warmup_s)
    enough = min((wanted or DEFAULT_REQUESTS) + warmup, MOST_PROMPTS)
    return max(1, enough, 0 if only is None else min(only + 1, MOST_PROMPTS))


def _only(dataset: Dataset, number: int) -> Dataset:
    from reporter.number_text import counted

    asked = dataset.samples
    if number >= len(asked):
        raise UsageError(
            f"--only-prompt {number}: {dataset.name} has {counted(len(asked), 'prompt')}, from 0 on"
        )
    facts = {**dataset.facts, "only_prompt": number}
    return replace(dataset, samples=(replace(asked[number], index=0),), weights=None, facts=facts)


def _expected(load: Load, duration_s: float) -> int:
    """How many requests may come within a time: at times more than expected."""
    expected = expected_arrivals(load, duration_s)
    return MOST_PROMPTS if expected is None else round(min(MOST_PROMPTS, expected * 1.2 + 50))


def _read(prompts: PromptSettings, source: str, media: Sequence[str]) -> Dataset:
    from workloads.columns import Columns
    from workloads.hugging_face import PREFIX, load_hub
    from workloads.prompts import load_prompts

    columns = Columns(
        prompt=prompts.prompt_column,
        system=prompts.system_column,
        output=prompts.output_column,
        weight=prompts.weight_column,
        tags=tuple(prompts.tag),
        media=tuple(media),
    )
    if source.startswith(PREFIX):
        return load_hub(source, columns, prompts.conversations, strict=prompts.strict_prompts)
    return load_prompts(Path(source), columns, prompts.conversations, strict=prompts.strict_prompts)


def _made_up(prompts: PromptSettings, count: int, seed: int) -> Dataset:
    options = (prompts.input_tokens, prompts.output_tokens, prompts.turns, prompts.shared_prefix)
    others = (prompts.cache_hit, prompts.corpus, prompts.tokenizer)
    if any(option is not None for option in (*options, *others)):
        from loadgen.sessions.run.synthetic import synthetic_dataset

        return synthetic_dataset(prompts, count, seed)
    from workloads.synthetic import synthetic_prompts

    return synthetic_prompts(count, seed=seed, salt=prompts.text_seed or 0)
