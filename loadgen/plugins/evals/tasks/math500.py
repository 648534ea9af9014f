r"""MATH-500: 500 problems of competitions, from the test of MATH (Lightman et al., arXiv:2305.20050).

The answer is in the last `\boxed{…}`, and need not be the same text as the right one: it must be equal to it.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Final

from loadgen.plugins.evals.grading import prm800k
from loadgen.plugins.evals.grading.prm800k import last_boxed
from loadgen.plugins.evals.grading.time_limit import TimeUpError, time_limit
from loadgen.plugins.evals.headlines import by_tag
from loadgen.plugins.evals.tasks.benchmarks import ScoreRule, benchmark
from workloads.cells import tag, text
from workloads.errors import ExtraError
from workloads.question import Question
from workloads.sample import Sample
from workloads.score import Score, graded, unparsed
from workloads.scorer import Headline, Reference

if TYPE_CHECKING:
    from collections.abc import Iterator

    from workloads.answer import Answer
    from workloads.workload import Inputs

LONGEST_S: Final = 5.0
"""What is not shown to be equal in so much CPU time is not equal."""

_PROMPT: Final = "{problem}\n\nPlease reason step by step, and put your final answer within \\boxed{{}}."
_LEVELS: Final = range(1, 6)
_LONGEST: Final = 100_000
"""Characters: Math-Verify's expressions take quadratic time over some texts, and no signal ends them."""
_TOO_LONG: Final = f"not shown to be equal in {LONGEST_S:g} s"


def questions(inputs: Inputs) -> Iterator[Question]:
    """One question a row."""
    for index, row in enumerate(inputs.rows):
        tags = {"subject": text(row, "subject"), "level": tag(row, "level")}
        sample = Sample(index, _PROMPT.format(problem=text(row, "problem")), tags=tags)
        yield Question(text(row, "unique_id"), sample, {"answer": text(row, "answer")})


def grade(reference: Reference, answer: Answer) -> Score:
    """Right where the boxed answer is equal to the right one."""
    prm800k.require()
    extracted = last_boxed(answer.text)
    if extracted is None:
        return unparsed("no \\boxed{…}")
    try:
        with time_limit(LONGEST_S):
            return graded(prm800k.equal(extracted, reference["answer"]), extracted)
    except TimeUpError:
        return graded(0, extracted, _TOO_LONG)


def grade_math_verify(reference: Reference, answer: Answer) -> Score:
    """Right if Math-Verify finds the right answer in the text, or in the end of a very long text."""
    try:
        from math_verify import parse, verify
    except ImportError as error:
        raise ExtraError(
            f"the scorer math_verify takes {error.name}: pip install 'llm-loadgen[math]'"
        ) from error
    logging.getLogger("math_verify").setLevel(logging.CRITICAL)  # it warns of having no time its own limit
    extracted = None
    try:
        with time_limit(LONGEST_S):
            truth = parse(f"\\boxed{{{reference['answer']}}}", parsing_timeout=None)
            got = parse(answer.text[-_LONGEST:], parsing_timeout=None)
            if not got:
                return unparsed("no answer")
            extracted = str(got[-1])
            return graded(verify(truth, got, timeout_seconds=None), extracted)
    except TimeUpError:
        return graded(0, extracted, _TOO_LONG)


WORKLOAD: Final = benchmark(
    "math500",
    questions,
    official=ScoreRule(
        grade,
        headlines=(
            Headline("accuracy"),
            *by_tag("level", _LEVELS, "level_"),
        ),
    ),
    math_verify=grade_math_verify,
)
