"""The questions of benchmarks as the dataset of a run."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from hashlib import sha256
from typing import TYPE_CHECKING, Any

import orjson

from workloads.dataset import Dataset
from workloads.errors import TaskError
from workloads.loading import load

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from workloads.loading import Loaded
    from workloads.question import Question
    from workloads.sample import Sample
    from workloads.task import Task


def dataset(
    tasks: Sequence[Task],
    data: Path | None = None,
    *,
    samples: int | None = None,
    offset: int = 0,
    max_tokens: int | None = None,
) -> Dataset:
    """Load the questions of tasks, those of the first task first.

    Args:
        tasks: At least one; none twice.
        data: A folder to look in; None fetches the data from where it is published.
        samples: How many questions of each task; None takes all.
        offset: How many questions of each task to leave out at the beginning.
        max_tokens: The most output tokens, in place of the benchmarks' own limits; None leaves them.

    Returns:
        The questions and the facts of the tasks; `questions[i].sample` is `samples[i]`, with the tag `task`.
        The checksum is over what is asked and what it is held against, so that it is the same wherever the
        same data comes from.

    Raises:
        TaskError: Two tasks have one name for the log.
        WorkloadError: See `workloads.loading.load`.
    """
    _require_distinct(tasks)
    questions: list[Question] = []
    facts: list[Mapping[str, Any]] = []
    for task in tasks:
        loaded = load(task, data, offset=offset, count=samples)
        facts.append({**_facts(loaded), "first": len(questions), "offset": offset})
        questions += _asked(loaded, len(questions), max_tokens)
    return Dataset(
        name=", ".join(task.text for task in tasks),
        samples=tuple(question.sample for question in questions),
        sha256=_checksum(questions),
        synthetic=False,
        questions=tuple(questions),
        tasks=tuple(facts),
    )


def _require_distinct(tasks: Sequence[Task]) -> None:
    text, times = Counter(task.text for task in tasks).most_common(1)[0]
    if times > 1:
        raise TaskError(f"{text}: named {times} times; to ask it more than once, use --repeats")
    files: dict[str, str] = {}
    for task in tasks:
        name = task.workload.name
        if task.workload.source.own is not None and files.setdefault(name, task.text) != task.text:
            raise TaskError(f"{files[name]} and {task.text} would both be called {name}; rename one of them")


def _facts(loaded: Loaded) -> Mapping[str, Any]:
    """What the log keeps of a task, as JSON."""
    task, workload = loaded.task, loaded.task.workload
    return {
        "task": task.text,
        "name": workload.name,
        "title": workload.title,
        "version": workload.version,
        "options": dict(task.options),
        "count": len(loaded.questions),
        "max_tokens": workload.max_tokens,
        "temperature": workload.temperature,
        "groups": list(workload.groups),
        "licence": workload.source.licence,
        **loaded.facts,
    }


def _asked(loaded: Loaded, first: int, max_tokens: int | None) -> Iterable[Question]:
    """The questions as they are asked: numbered through, with their task as a tag, within the limit."""
    workload = loaded.task.workload
    for index, question in enumerate(loaded.questions, start=first):
        sample = question.sample
        tagged = replace(sample, index=index, tags={**sample.tags, "task": workload.name})
        yield replace(question, sample=_limited(tagged, max_tokens, workload.max_tokens))


def _limited(sample: Sample, given: int | None, usual: int | None) -> Sample:
    """The sample with the most output tokens: as given, else its own limit, else its benchmark's."""
    later = tuple(replace(one, max_tokens=_first(given, one.max_tokens, usual)) for one in sample.follow_ups)
    return replace(sample, max_tokens=_first(given, sample.max_tokens, usual), follow_ups=later)


def _first(*limits: int | None) -> int | None:
    return next((limit for limit in limits if limit is not None), None)


def _checksum(questions: Iterable[Question]) -> str:
    """Over each question as JSON, a newline after each."""
    digest = sha256()
    for question in questions:
        sample = question.sample
        asked = [sample.messages(), sample.token_ids, sample.tools, sample.follow_ups]
        said = [question.id, sample.tags, asked, question.reference]
        digest.update(orjson.dumps(said, str, orjson.OPT_SORT_KEYS | orjson.OPT_APPEND_NEWLINE))
    return digest.hexdigest()
