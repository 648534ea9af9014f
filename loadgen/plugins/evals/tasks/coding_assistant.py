"""Coding assistant and coding task: Python from a description, or from a signature and docstring.

Tests score the code. The data are this project's.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from loadgen.plugins.evals.grading.code import score_of
from loadgen.plugins.evals.prompts import prompt
from loadgen.plugins.evals.tasks.benchmarks import benchmark
from loadgen.plugins.evals.tasks.use_cases import difficulty, official
from loadgen.plugins.sandbox.job import Job
from workloads.question import Question
from workloads.sample import Sample
from workloads.score import Score, unparsed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from workloads.answer import Answer
    from workloads.scorer import Reference
    from workloads.sources import FileRow
    from workloads.workload import Inputs

TIMEOUT_S: Final = 5.0

_SYSTEM: Final = (
    "You write Python 3.11 with the standard library alone. Answer with one block of code, marked as "
    "```python, that has everything that is needed."
)
_STUB_SYSTEM: Final = prompt("coding_task", "system")
_BLOCK: Final = re.compile(r"```[ \t]*(?:python3?|py)?[ \t]*\n(.*?)```", re.DOTALL | re.IGNORECASE)


def questions(inputs: Inputs) -> Iterator[Question]:
    """One description a question."""
    for index, row in enumerate(inputs.rows):
        yield _question(row, Sample(index, row["task"], _SYSTEM, tags=difficulty(row)))


def of_stubs(inputs: Inputs) -> Iterator[Question]:
    """One function a question."""
    for index, row in enumerate(inputs.rows):
        stub = f"```python\n{row['stub']}```"
        yield _question(row, Sample(index, stub, _STUB_SYSTEM, tags=difficulty(row)))


def _question(row: FileRow, sample: Sample) -> Question:
    return Question(row["id"], sample, {name: row[name] for name in ("entry_point", "tests")})


def code_in(text: str, name: str) -> str | None:
    """The last block that defines a name, else a whole text that does; None without a definition."""
    defines = re.compile(rf"^(?:async )?(?:def|class) {re.escape(name)}\b", re.MULTILINE)
    return next((code for code in (*reversed(_BLOCK.findall(text)), text) if defines.search(code)), None)


def grade(reference: Reference, answer: Answer) -> Score:
    """Right where every test passes."""
    code = code_in(answer.text, reference["entry_point"])
    if code is None:
        return unparsed(f"no code that defines {reference['entry_point']}")
    return score_of(Job("program", f"{code}\n\n{reference['tests']}", TIMEOUT_S), code, TIMEOUT_S + 1)


_BY_TESTS: Final = replace(official(grade, "every test passes"), runs_code=True)
WORKLOAD: Final = benchmark("coding_assistant", questions, _BY_TESTS)
CODING_TASK: Final = benchmark("coding_task", of_stubs, _BY_TESTS)
