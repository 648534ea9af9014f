"""From settings to the sessions of a trace, and how they are played."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from loadgen.plugins.agentic.agentic_form import read_agentic_form
from loadgen.plugins.agentic.made_up import MadeUpSessions
from loadgen.plugins.agentic.reading import read_sessions, session_format
from loadgen.plugins.agentic.session_tree import History
from loadgen.plugins.agentic.tree_kind import TreeKind
from loadgen.plugins.agentic.tree_sample import TreeSamples
from workloads.dataset import Dataset
from workloads.traces.form import TraceForm, read_form

if TYPE_CHECKING:
    from pathlib import Path

    from loadgen.plugins.agentic.session_corpus import SessionCorpus
    from loadgen.sessions.settings.load_options import LoadSettings
    from loadgen.sessions.settings.perf import PerfSettings
    from loadgen.sessions.settings.prompt_options import PromptSettings


def recorded_sessions(load: LoadSettings, prompts: PromptSettings, source: Path) -> Dataset | None:
    """The sessions of a trace; None for a trace of requests.

    Args:
        load: The format of the trace, and the seed of texts.
        prompts: The tokenizer and the corpus of texts.
        source: A file, or a folder of files.

    Raises:
        UsageError, WorkloadError: What is wrong, and where.
    """
    form = TraceForm() if load.trace_format is None else read_form(load.trace_format)
    if session_format(source, form) is None:
        return None
    history = None if prompts.history == "answered" else History(prompts.history)
    return dataset_of_sessions(read_sessions(source, form, history), load, prompts)


def made_up_sessions(load: LoadSettings, prompts: PromptSettings) -> Dataset:
    """Made-up sessions.

    Args:
        load: The seed of sessions.
        prompts: The form of the sessions, the tokenizer and the corpus of texts.

    Raises:
        UsageError, WorkloadError: The form cannot be read, or texts cannot be made; why.
    """
    corpus = MadeUpSessions(read_agentic_form(prompts.agentic or ""), load.seed)
    return replace(dataset_of_sessions(corpus, load, prompts), synthetic=True)


def dataset_of_sessions(corpus: SessionCorpus, load: LoadSettings, prompts: PromptSettings) -> Dataset:
    """The questions of a run of sessions.

    Raises:
        UsageError, WorkloadError: Texts cannot be made; why.
    """
    from loadgen.plugins.agentic.prompt_texts import TreeTexts
    from loadgen.sessions.run.synthetic import corpus_of
    from loadgen.sessions.settings.tokenizer_options import counter

    texts = TreeTexts(
        load.seed,
        counter(prompts.tokenizer),
        corpus_of(prompts),
        shares_ids=corpus.shares_ids,
        salt=prompts.text_seed or 0,
    )
    numbers, offsets_ns = _by_arrival(corpus)
    facts = {
        "sessions": {
            "format": corpus.facts.format,
            "unit": corpus.facts.unit,
            "history": str(corpus.facts.history),
            "sessions": len(corpus),
            "tokenizer": prompts.tokenizer,
            "notes": list(corpus.facts.notes),
        },
        **corpus.facts.left_out.facts(),
    }
    return Dataset(
        corpus.facts.name,
        TreeSamples(corpus, texts, numbers),
        corpus.facts.sha256,
        synthetic=False,
        offsets_ns=offsets_ns,
        facts=facts,
        session_kind="tree_kind",
    )


def _by_arrival(corpus: SessionCorpus) -> tuple[list[int], list[int] | None]:
    """The numbers of the sessions in the order of arrival, with their times from the first one on."""
    arrivals = [corpus.arrival_ns(number) for number in range(len(corpus))]
    times = [at_ns for at_ns in arrivals if at_ns is not None]
    if len(times) < len(arrivals):
        return list(range(len(arrivals))), None
    numbers = sorted(range(len(times)), key=times.__getitem__)
    return numbers, [times[number] - times[numbers[0]] for number in numbers]


def tree_kind(settings: PerfSettings) -> TreeKind:
    """How the sessions of a run are played."""
    load = settings.load
    return TreeKind(load.trace_speed or 1.0, settings.prompts.salt, tuple(load.trace_model))
