"""SimpleQA: 4,326 short questions about facts, with one answer each (Wei et al., arXiv:2411.04368).

A judge calls an answer correct, incorrect or not attempted. Of the judge's words the first letter A, B or C
counts, wherever it stands, and without any of them the question was not attempted (openai/simple-evals,
`simpleqa_eval.py`).
"""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING, Any, Final

from loadgen.plugins.evals.judging.judge_prompts import judge_prompts
from loadgen.plugins.evals.tasks.benchmarks import ScoreRule, benchmark
from workloads.cells import tag, text
from workloads.errors import ColumnError
from workloads.question import Question
from workloads.sample import Sample
from workloads.score import Score, Status, graded, pending, with_replies
from workloads.scorer import Headline, Inquiry, Reference

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from workloads.answer import Answer
    from workloads.sources import FileRow
    from workloads.workload import Inputs

_KEY: Final = "verdict"
_TAGS: Final[tuple[str, ...]] = ("topic", "answer_type")
_LETTER: Final = re.compile(r"[ABC]")
_GRADES: Final = {"A": "correct", "B": "incorrect", "C": "not_attempted"}
_PROMPTS: Final = judge_prompts("simpleqa")
_MAX_TOKENS: Final = 2048

_CORRECT: Final = "sum(value)"
_INCORRECT: Final = "coalesce(sum(metrics['incorrect']), 0)"


def questions(inputs: Inputs) -> Iterator[Question]:
    """One question a row."""
    for index, row in enumerate(inputs.rows):
        about = _metadata(row)
        tags = {name: str(about[name]) for name in _TAGS if name in about}
        reference = {"question": text(row, "problem"), "answer": tag(row, "answer")}
        yield Question(str(index), Sample(index, reference["question"], tags=tags), reference)


def ask(reference: Reference, answer: Answer) -> Sequence[Inquiry]:
    """Whether the answer is correct, incorrect or not attempted."""
    messages = _PROMPTS.prompts["verdict"].messages(
        question=reference["question"], target=reference["answer"], predicted_answer=answer.text
    )
    return (Inquiry(_KEY, messages, _MAX_TOKENS, temperature=0.0),)


def grade(_reference: Reference, answer: Answer) -> Score:
    """1 where the judge says correct."""
    judgement = answer.judged.get(_KEY)
    if judgement is None:
        return pending()
    letter = _LETTER.search(judgement)
    grade_name = _GRADES[letter[0] if letter else "C"]
    figures = {name: float(name == grade_name) for name in _GRADES.values()}
    if letter is None:
        reason = "the judge said none of A, B and C, which counts as not attempted"
        return with_replies(Score(0.0, Status.UNPARSED, grade_name, reason, figures), judgement)
    return graded(
        grade_name == "correct", grade_name, "" if grade_name == "correct" else grade_name, **figures
    )


def _metadata(row: FileRow) -> dict[str, Any]:
    """The metadata of a question, a Python literal in the file."""
    metadata = row.value.get("metadata", {}) if isinstance(row.value, dict) else {}
    try:
        about = ast.literal_eval(metadata) if isinstance(metadata, str) else metadata
    except (ValueError, SyntaxError) as error:
        raise ColumnError(f"{row.place}: `metadata` is not a Python literal: {metadata[:80]!r}") from error
    return about if isinstance(about, dict) else {}


WORKLOAD: Final = benchmark(
    "simpleqa",
    questions,
    official=ScoreRule(
        grade,
        headlines=(
            Headline("correct"),
            Headline("f1", f"2 * {_CORRECT} / (count(*) + {_CORRECT} + {_INCORRECT})"),
            Headline(
                "accuracy_given_attempted", f"coalesce({_CORRECT} / nullif({_CORRECT} + {_INCORRECT}, 0), 0)"
            ),
            Headline("incorrect", f"{_INCORRECT} / count(*)", better="lower"),
            Headline(
                "not_attempted", "coalesce(sum(metrics['not_attempted']), 0) / count(*)", better="lower"
            ),
        ),
        ask=ask,
        judge=_PROMPTS.label,
    ),
)
