"""From settings to the questions of benchmarks, and the benchmarks' events in the log."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from loadgen.sessions.errors import UsageError
from recorder.event import Event, EventType
from workloads.own_data import is_own
from workloads.task import Task, parse

if TYPE_CHECKING:
    from collections.abc import Container, Iterator, Sequence

    from loadgen.sessions.settings.benchmark_options import TaskSettings
    from loadgen.sessions.settings.endpoint_options import GenerationSettings
    from workloads.dataset import Dataset


def tasks_of(settings: TaskSettings, tags: Sequence[str]) -> list[Task]:
    """The benchmarks of settings, with options."""
    columns = _columns(settings.columns)
    return [replace(parse(text, columns, tags), split=settings.split) for text in settings.task]


def placed_task(text: str, folder: Path) -> str:
    """The task, with an absolute path for a file."""
    return str(folder / Path(text).expanduser()) if is_own(text) else text


def _columns(options: Sequence[str]) -> dict[str, str]:
    """The columns of files, by content."""
    columns: dict[str, str] = {}
    for option in options:
        meant, equals, column = option.partition("=")
        if not equals or not meant:
            raise UsageError(
                f"--map {option}: write the field and the column's name, as in ground_truth=answer"
            )
        if meant in columns:
            raise UsageError(f"--map {option}: {meant} was given before, as {columns[meant]!r}; give it once")
        columns[meant] = column
    return columns


def benchmark_questions(
    tasks: TaskSettings, tags: Sequence[str], generation: GenerationSettings, seed: int
) -> Dataset:
    """The questions of benchmarks."""
    from workloads.benchmark import dataset

    return dataset(
        tasks_of(tasks, tags),
        tasks.data,
        samples=tasks.samples,
        offset=tasks.offset,
        max_tokens=generation.max_tokens,
        temperature=generation.temperature,
        seed=seed if tasks.draws_samples else None,
        system_prompt=tasks.system_prompt,
        ids=tasks.wanted_ids,
    )


def temperature_of(dataset: Dataset) -> float | None:
    """The sampling temperature of benchmarks; None where each question has that of its benchmark."""
    named: set[float] = {task["sampled_at"] for task in dataset.tasks}
    return named.pop() if len(named) == 1 else None


def question_events(dataset: Dataset, logged: Container[int], at_ns: int) -> Iterator[Event]:
    """The events of questions, by which answers can be scored without the dataset."""
    for text, index in _numbered(dataset.tasks):
        if index in logged:
            continue
        question = dataset.questions[index]
        data: dict[str, Any] = {
            "prompt_id": index,
            "task": text,
            "id": question.id,
            "tags": dict(question.sample.tags),
            "texts": {"reference": question.reference},
        }
        if question.empty_is_answer:
            data["empty_is_answer"] = True
        yield Event(EventType.QUESTION, at_ns, data=data)


def _numbered(tasks: Sequence[Any]) -> Iterator[tuple[str, int]]:
    for task in tasks:
        for index in range(task["first"], task["first"] + task["count"]):
            yield task["task"], index
