"""From settings to the sessions of a trace, and how they are played."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from loadgen.driver.load import Closed
from loadgen.plugins.agentic.agentic_form import read_agentic_form
from loadgen.plugins.agentic.made_up import MadeUpSessions
from loadgen.plugins.agentic.reading import read_sessions, session_format
from loadgen.plugins.agentic.session_tree import History
from loadgen.plugins.agentic.tree_kind import MidStart, TreeKind
from loadgen.plugins.agentic.tree_sample import TreeSample, TreeSamples
from loadgen.sessions.errors import UsageError
from workloads.dataset import Dataset
from workloads.traces.form import TraceForm, read_form

if TYPE_CHECKING:
    from pathlib import Path

    from loadgen.driver.plan import Plan
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
        session_kind="trees",
    )


def _by_arrival(corpus: SessionCorpus) -> tuple[list[int], list[int] | None]:
    """The numbers of the sessions in the order of arrival, with their times from the first one on."""
    arrivals = [corpus.arrival_ns(number) for number in range(len(corpus))]
    times = [at_ns for at_ns in arrivals if at_ns is not None]
    if len(times) < len(arrivals):
        return list(range(len(arrivals))), None
    numbers = sorted(range(len(times)), key=times.__getitem__)
    return numbers, [times[number] - times[numbers[0]] for number in numbers]


def tree_plan(plan: Plan, settings: PerfSettings, dataset: Dataset) -> Plan:
    """The plan of a run of sessions of agents.

    Args:
        plan: The plan without what only such sessions have.
        settings: The options.
        dataset: The sessions.

    Raises:
        UsageError: The dataset has no sessions of agents, or they cannot begin in mid-trajectory; why.
    """
    trees = settings.trees
    if not dataset.session_kind:
        raise UsageError(f"{' and '.join(trees.flags)}: {dataset.name} has no sessions of agents; leave out")
    kind = TreeKind(
        settings.load.trace_speed or 1.0,
        settings.prompts.salt,
        tuple(settings.load.trace_model),
        trees.salt_at,
        trees.idle_cap,
        trees.tree_idle_cap,
    )
    if trees.start_window is None or not isinstance(plan.load, Closed):
        return replace(plan, session_kind=kind)
    users = min(plan.load.concurrency, plan.sessions or plan.load.concurrency)
    kind = replace(kind, mid_start=_mid_start(settings, dataset, users))
    return replace(plan, session_kind=kind, warmup=users, warmup_rounds=1 + bool(trees.cache_pressure))


def _mid_start(settings: PerfSettings, dataset: Dataset, users: int) -> MidStart:
    """The start of the first sessions in mid-trajectory, with the time that their warm-up takes."""
    from loadgen.driver.requests.order import order_of
    from loadgen.plugins.agentic.mid_start import position_at, read_window, require_moments, start_ns

    trees, seed = settings.trees, settings.load.seed
    window = read_window(trees.start_window or "")
    order = order_of(settings.prompts.order, len(dataset.samples), seed)
    leads_ns = [0]
    for user in range(users):
        sample = dataset.samples[order(user)]
        assert isinstance(sample, TreeSample)  # noqa: S101 (all are)
        tree = sample.corpus.tree(sample.number)
        require_moments(tree)
        position = position_at(tree, start_ns(tree, window, seed, user))
        leads_ns += [position.lead_ns(tree, turn) for turn in position.under_way(tree)]
    lead_ns = max(leads_ns)
    if trees.tree_idle_cap is not None:
        lead_ns = min(lead_ns, round(trees.tree_idle_cap * 1e9))
    return MidStart(window, users, seed, lead_ns, trees.cache_pressure, trees.warmup_drain)
