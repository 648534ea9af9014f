"""The questions of benchmarks as the dataset of a run."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Final

import orjson

from workloads.conversation_sample import with_limits
from workloads.dataset import Dataset
from workloads.episode_program import EpisodeSample
from workloads.errors import TaskError
from workloads.question_loading import load
from workloads.registry import service
from workloads.task import MAX_TOKENS

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from workloads.question import Question
    from workloads.question_loading import Loaded
    from workloads.task import Task

DEFAULT_TEMPERATURE: Final = 0.0
"""Where neither the user nor the benchmark says: the same answer each time, as far as the endpoint can."""


def dataset(
    tasks: Sequence[Task],
    data: Path | None = None,
    *,
    samples: int | None = None,
    offset: int = 0,
    max_tokens: int | None = None,
    temperature: float | None = None,
    seed: int | None = None,
    system_prompt: str | None = None,
    ids: Collection[str] = (),
) -> Dataset:
    """Load the questions of tasks, those of the first task first.

    Args:
        tasks: At least one; none twice.
        data: A folder to look in; None fetches the data from where it is published.
        samples: How many questions of each task; None takes all.
        offset: How many questions of each task to leave out at the beginning.
        max_tokens: The most output tokens; a smaller limit of a benchmark holds. None leaves the limits of
            benchmarks.
        temperature: The sampling temperature of the session, in place of the benchmarks' own. None leaves
            them: where they differ, each question has that of its benchmark.
        system_prompt: Stands before each question; a benchmark's own follows it. None adds nothing.
        seed: Draws the `samples` of each task from all of its groups; None takes the first ones.
        ids: The only questions of each task, by the benchmark's names of them; empty takes all.

    Returns:
        The questions and the facts of the tasks; `questions[i].sample` is `samples[i]`, with the tag
        `task`.
        The checksum is over what is asked and what it is compared with, so that it is the same wherever
        the
        same data comes from.

    Raises:
        TaskError: Two tasks have one name for the log.
        WorkloadError: See `workloads.question_loading.load`.
    """
    _require_distinct(tasks)
    questions: list[Question] = []
    facts: list[dict[str, Any]] = []
    differ = temperature is None and len(set(map(sampled_at, tasks))) > 1
    for task in tasks:
        loaded = load(task, data, offset=offset, count=samples, seed=seed, ids=ids)
        task_temperature = sampled_at(task) if temperature is None else temperature
        facts.append(
            {**_facts(loaded), "first": len(questions), "offset": offset, "sampled_at": task_temperature}
        )
        own = sampled_at(task) if differ else None
        if system_prompt is not None:
            loaded = _after(loaded, system_prompt)
            facts[-1] = {**facts[-1], "system_prompt": system_prompt}
        facts[-1]["notes"] += _smaller_limits(loaded, max_tokens)
        questions += _asked(loaded, len(questions), max_tokens, own)
    return Dataset(
        name=", ".join(task.text for task in tasks),
        samples=tuple(question.sample for question in questions),
        sha256=_checksum(questions),
        synthetic=False,
        questions=tuple(questions),
        tasks=tuple(facts),
    )


def _after(loaded: Loaded, system_prompt: str) -> Loaded:
    """The questions with a system prompt in front."""
    questions = tuple(
        replace(question, sample=question.sample.with_system(system_prompt)) for question in loaded.questions
    )
    return replace(loaded, questions=questions)


def sampled_at(task: Task) -> float:
    """The sampling temperature of a benchmark, where nothing else is asked for."""
    named = task.workload.temperature
    return DEFAULT_TEMPERATURE if named is None else named


def _require_distinct(tasks: Sequence[Task]) -> None:
    text, times = Counter(task.text for task in tasks).most_common(1)[0]
    if times > 1:
        raise TaskError(f"{text}: named {times} times; to ask it more than once, use --repeats")
    files: dict[str, str] = {}
    for task in tasks:
        name = task.workload.name
        if task.workload.source.own is not None and files.setdefault(name, task.text) != task.text:
            raise TaskError(f"{files[name]} and {task.text} would both be called {name}; rename one")


def _facts(loaded: Loaded) -> Mapping[str, Any]:
    """The facts of a task for the log, as JSON."""
    task, workload = loaded.task, loaded.task.workload
    return {
        "task": task.text,
        "name": workload.name,
        "title": workload.title,
        "version": workload.version,
        "options": dict(task.options),
        "count": len(loaded.questions),
        "max_tokens": task.max_tokens or workload.max_tokens,
        "temperature": workload.temperature,
        "groups": list(workload.groups),
        "licence": task.source.licence,
        **loaded.facts,
    }


def _asked(
    loaded: Loaded, first: int, max_tokens: int | None, temperature: float | None
) -> Iterable[Question]:
    """The numbered questions, with the task as a tag, within the limits of output tokens."""
    task, workload = loaded.task, loaded.task.workload

    def limit(own: int | None) -> int | None:
        """The smaller of the session's limit and the benchmark's."""
        of_task = task.max_tokens or own or workload.max_tokens
        return min(filter(None, (max_tokens, of_task)), default=None)

    for index, question in enumerate(loaded.questions, start=first):
        sample = question.sample
        tags = {**sample.tags, "task": workload.name}
        tagged = replace(with_limits(sample, limit), index=index, tags=tags, temperature=temperature)
        if workload.multi_turn is not None:
            tagged = EpisodeSample.of(tagged, service("reacting_to")(workload.multi_turn, question.reference))
        yield replace(question, sample=tagged)


def _smaller_limits(loaded: Loaded, max_tokens: int | None) -> Iterator[str]:
    """A note where the benchmark's limit of output tokens is smaller than the session's."""
    task = loaded.task
    if task.max_tokens is not None or max_tokens is None:
        return
    limits = (question.sample.max_tokens or task.workload.max_tokens for question in loaded.questions)
    own = min(filter(None, limits), default=max_tokens)
    if own < max_tokens:
        raised = f"{task.text}{',' if ':' in task.text else ':'}{MAX_TOKENS}={max_tokens}"
        yield (
            f"answers have at most {own:,} output tokens, the benchmark's limit, which is below "
            f"--max-tokens {max_tokens}; --task {raised} raises the limit"
        )


def _checksum(questions: Iterable[Question]) -> str:
    """Over each question as JSON, a newline after each."""
    digest = sha256()
    for question in questions:
        sample = question.sample
        fields = [question.id, sample.tags, sample.content(), question.reference]
        digest.update(orjson.dumps(fields, str, orjson.OPT_SORT_KEYS | orjson.OPT_APPEND_NEWLINE))
    return digest.hexdigest()
