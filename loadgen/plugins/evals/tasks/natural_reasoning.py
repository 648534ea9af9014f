"""natural_reasoning: questions from pretraining corpora, with reference answers (arXiv:2502.13124).

The data set has no test split and no official scorer; the judge is this project's own, and says so. Rows
without a reference answer are left out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from loadgen.plugins.evals.judging.judge_prompts import judge_prompts
from loadgen.plugins.evals.tasks import baseline
from loadgen.plugins.evals.tasks.benchmarks import ScoreRule, benchmark
from workloads.cells import text
from workloads.question import Question
from workloads.sample import Sample
from workloads.score import Score, graded, pending, unreadable
from workloads.scorer import Inquiry, Reference

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from workloads.answer import Answer
    from workloads.workload import Inputs

_KEY: Final = "verdict"
_PROMPTS: Final = judge_prompts("natural_reasoning")


def questions(inputs: Inputs) -> Iterator[Question]:
    """One question for each row with a reference answer, numbered by row."""
    index = 0
    for number, row in enumerate(inputs.rows):
        answer = row["reference_answer"]
        if isinstance(answer, str) and answer.strip():
            question = text(row, "question")
            reference = {"question": question, "answer": answer}
            yield Question(str(number), Sample(index, question), reference)
            index += 1


def ask(reference: Reference, answer: Answer) -> Sequence[Inquiry]:
    """An inquiry: whether answer and reference have equal meaning."""
    messages = _PROMPTS.prompts["verdict"].messages(
        question=reference["question"], reference=reference["answer"], answer=answer.text
    )
    return (Inquiry(_KEY, messages, temperature=0.0),)


def grade(_reference: Reference, answer: Answer) -> Score:
    """1 where the judge says TRUE."""
    reply = answer.judged.get(_KEY)
    if reply is None:
        return pending()
    verdict = {"TRUE": True, "FALSE": False}.get(reply.strip().upper())
    return unreadable("word TRUE or FALSE", reply) if verdict is None else graded(verdict, reply.strip())


WORKLOAD: Final = benchmark(
    "natural_reasoning",
    questions,
    baseline.natural_reasoning(),
    judged=ScoreRule(grade, ask=ask, judge=_PROMPTS.label),
)
