"""GSM8K: grade-school mathematics, 1,319 questions with numeric answers (Cobbe et al., arXiv:2110.14168).

The data's own solutions end with `#### 72`, and answers are read as they are: the text after `####`, without
commas, must be the same.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from loadgen.plugins.evals.tasks.benchmarks import benchmark
from workloads.cells import text as text_in
from workloads.errors import ColumnError
from workloads.question import Question
from workloads.sample import Sample
from workloads.score import Score, graded, unparsed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from workloads.answer import Answer
    from workloads.scorer import Reference
    from workloads.workload import Inputs

_PROMPT: Final = (
    "{question}\n\nThink step by step. End with a line of the form `#### N`, where N is the number."
)
_MARKED: Final = re.compile(r"#### (\-?[0-9\.\,]+)")
_PUBLISHED: Final = re.compile(r"A: (\-?[0-9\.\,]+)")
_NUMBER: Final = re.compile(r"-?(?!(?<=,),)[\d,]*\.?\d+")
"""Finds what `-?[\\d,]*\\.?\\d+` does, which looks through a row of commas once for each of them."""

_DELIMITER: Final = "The answer is"
_NEXT_QUESTION: Final = "\nQ:"


def questions(inputs: Inputs) -> Iterator[Question]:
    """One question a row."""
    for index, row in enumerate(inputs.rows):
        number = answer_in(text_in(row, "answer"))
        if number is None:
            raise ColumnError(f"{row.place}, column 'answer': no `####` with a number after it")
        sample = Sample(index, _PROMPT.format(question=text_in(row, "question")))
        yield Question(str(index), sample, {"answer": number})


def answer_in(solution: str) -> str | None:
    """The number after the first `####` that a number follows, as text; None where there is none."""
    match = _MARKED.search(solution)
    return None if match is None else match[1].replace(",", "")


def published_answer_in(solution: str) -> str | None:
    """The number after the last `A:` that a number follows, as text; None where there is none."""
    matches = _PUBLISHED.findall(solution)
    return matches[-1].replace(",", "") if matches else None


def number_in(solution: str) -> str | None:
    """The number that MLPerf takes: the first after the last `The answer is`, else the last of all.

    None where there is none. What follows a further question is not read.
    """
    solution = solution.partition(_NEXT_QUESTION)[0]
    after = solution.rpartition(_DELIMITER)[2]
    numbers = _NUMBER.findall(after)[:1] if after != solution else []
    numbers = numbers or _NUMBER.findall(solution)[-1:]
    return numbers[0].replace(",", "") if numbers else None


def grade(reference: Reference, answer: Answer) -> Score:
    """Right if the number after `####` is equal as text."""
    return _compared(reference, answer_in(answer.text), "no `#### N`")


def grade_published(reference: Reference, answer: Answer) -> Score:
    """Right if the number after `A:` is equal as text."""
    return _compared(reference, published_answer_in(answer.text), "no `A: N`")


def _compared(reference: Reference, extracted: str | None, otherwise: str) -> Score:
    return unparsed(otherwise) if extracted is None else graded(extracted == reference["answer"], extracted)


def grade_mlperf(reference: Reference, answer: Answer) -> Score:
    """Right for an equal number."""
    number = number_in(answer.text)
    if number is None:
        return unparsed("no number")
    return graded(float(number) == _number(reference["answer"]), number)


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


WORKLOAD: Final = benchmark(
    "gsm8k", questions, official=grade, published_format=grade_published, mlperf=grade_mlperf
)
