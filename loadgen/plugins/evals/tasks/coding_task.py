"""Coding task: a Python function from a signature and docstring, scored by tests. Data of our own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from loadgen.plugins.evals.tasks import DATA
from loadgen.plugins.evals.tasks.coding_assistant import BY_TESTS
from loadgen.plugins.evals.tasks.difficulty import TAG, difficulty
from workloads.question import Question
from workloads.sample import Sample
from workloads.workload import Inputs, Source, Typical, Workload

if TYPE_CHECKING:
    from collections.abc import Iterator

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


WORKLOAD: Final = Workload(
    name="coding_task",
    title="a Python function from its signature and docstring, judged by tests (own data)",
    version=1,
    tier=1,
    category="use-case",
    typical=Typical(250, 250),
    source=Source(
        files=("coding_task.jsonl",),
        packaged=DATA,
        columns=("id", "difficulty", "entry_point", "stub", "tests"),
        rows=30,
        licence="Apache-2.0",
    ),
    questions=questions,
    scorers=(BY_TESTS,),
    groups=(TAG,),
)
