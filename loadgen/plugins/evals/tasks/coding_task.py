"""Coding task: a Python function from a signature and docstring, scored by tests. Data of our own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from loadgen.plugins.evals.tasks.benchmarks import benchmark
from loadgen.plugins.evals.tasks.coding_assistant import BY_TESTS
from loadgen.plugins.evals.tasks.difficulty import difficulty
from workloads.question import Question
from workloads.sample import Sample

if TYPE_CHECKING:
    from collections.abc import Iterator

    from workloads.workload import Inputs

_SYSTEM: Final = (
    "Write the function whose signature and docstring you are given, in Python 3.11 with the standard "
    "library alone. Answer with one block of code, marked as ```python, that has the whole function and the "
    "imports that it needs."
)


def questions(inputs: Inputs) -> Iterator[Question]:
    """One function a question."""
    for index, row in enumerate(inputs.rows):
        reference = {name: row[name] for name in ("entry_point", "tests")}
        sample = Sample(index, f"```python\n{row['stub']}```", _SYSTEM, tags=difficulty(row))
        yield Question(row["id"], sample, reference)


WORKLOAD: Final = benchmark(
    "coding_task",
    questions,
    BY_TESTS,
)
