r"""AIME: the American Invitational Mathematics Examination, with integer answers from 0 to 999.

The data of 2025 is the default, 30 problems; any file with problems and answers will do. What is asked and
how answers are read are those of openai/gpt-oss.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from loadgen.plugins.evals.tasks.benchmarks import benchmark
from workloads.cells import text
from workloads.errors import ColumnError
from workloads.question import Question
from workloads.sample import Sample
from workloads.score import Score, graded, unparsed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from workloads.answer import Answer
    from workloads.scorer import Reference
    from workloads.sources import FileRow
    from workloads.workload import Inputs

_PROMPT: Final = "\n{problem}\nPlease reason step by step, and put your final answer within \\boxed{{}}.\n"
_PROBLEMS: Final = ("question", "problem", "Problem")
_ANSWERS: Final = ("answer", "Answer")
_BOXED: Final = re.compile(r"(?:boxed|framebox)\{([^}]*)\}")
_WHOLE: Final = re.compile(r"\d+")


def questions(inputs: Inputs) -> Iterator[Question]:
    """One question a row."""
    for index, row in enumerate(inputs.rows):
        prompt = _PROMPT.format(problem=text(row, _column(row, _PROBLEMS)))
        yield Question(str(index), Sample(index, prompt), {"answer": _answer(row, _column(row, _ANSWERS))})


def _column(row: FileRow, names: tuple[str, ...]) -> str:
    return next((name for name in names if name in row.value), names[0])


def _answer(row: FileRow, column: str) -> int:
    """The number, or that which a text begins with."""
    value = row[column]
    begins = _WHOLE.match(value) if isinstance(value, str) else None
    try:
        return int(begins[0] if begins else value)
    except (TypeError, ValueError) as error:
        raise ColumnError(
            f"{row.place}, column {column!r}: {value!r}, where a whole number should be"
        ) from error


def answer_in(solution: str) -> str | None:
    """The content of the last non-empty box, after the last comma; else the last integer.

    None where there is neither.
    """
    closed = solution[: solution.rfind("}") + 1]  # a box that does not end would be looked through to the end
    boxed: list[str] = [content for content in _BOXED.findall(closed) if content]
    if boxed:
        return boxed[-1].rpartition(",")[2].strip()
    numbers: list[str] = _WHOLE.findall(solution)
    return numbers[-1] if numbers else None


def grade(reference: Reference, answer: Answer) -> Score:
    """Right for an equal number."""
    extracted = answer_in(answer.text)
    try:
        return graded(int(extracted or "") == reference["answer"], extracted)
    except ValueError:
        return unparsed("no whole number")


WORKLOAD: Final = benchmark("aime", questions, official=grade)
