"""Coding assistant: Python to be written from a description, judged by tests. Data of our own."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from loadgen.plugins.evals.grading.code import score_of
from loadgen.plugins.evals.tasks.benchmarks import benchmark
from loadgen.plugins.evals.tasks.difficulty import BY_DIFFICULTY, difficulty
from loadgen.plugins.sandbox.job import Job
from workloads.question import Question
from workloads.sample import Sample
from workloads.score import Score, unparsed
from workloads.scorer import Headline, Reference, Scorer

if TYPE_CHECKING:
    from collections.abc import Iterator

    from workloads.answer import Answer
    from workloads.workload import Inputs

TIMEOUT_S: Final = 5.0

_SYSTEM: Final = (
    "You write Python 3.11 with the standard library alone. Answer with one block of code, marked as "
    "```python, that has everything that is needed."
)
_BLOCK: Final = re.compile(r"```[ \t]*(?:python3?|py)?[ \t]*\n(.*?)```", re.DOTALL | re.IGNORECASE)


def questions(inputs: Inputs) -> Iterator[Question]:
    """One description a question."""
    for index, row in enumerate(inputs.rows):
        reference = {name: row[name] for name in ("entry_point", "tests")}
        yield Question(row["id"], Sample(index, row["task"], _SYSTEM, tags=difficulty(row)), reference)


def code_in(text: str, name: str) -> str | None:
    """The last block that defines a name, else the whole text if it does; None without a definition."""
    defines = re.compile(rf"^(?:async )?(?:def|class) {re.escape(name)}\b", re.MULTILINE)
    return next((code for code in (*reversed(_BLOCK.findall(text)), text) if defines.search(code)), None)


def grade(reference: Reference, answer: Answer) -> Score:
    """Right where every test passes."""
    code = code_in(answer.text, reference["entry_point"])
    if code is None:
        return unparsed(f"no code that defines {reference['entry_point']}")
    return score_of(Job("program", f"{code}\n\n{reference['tests']}", TIMEOUT_S), code, TIMEOUT_S + 1)


BY_TESTS: Final = Scorer(
    "official",
    1,
    grade,
    "this project: every test passes",
    headlines=(Headline("accuracy"), *BY_DIFFICULTY),
    runs_code=True,
)

WORKLOAD: Final = benchmark(
    "coding_assistant",
    questions,
    BY_TESTS,
)
