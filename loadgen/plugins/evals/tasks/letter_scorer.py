"""The scorer `letter` of multiple-choice benchmarks: the letter alone decides, and no judge is asked."""

from __future__ import annotations

import string
from typing import TYPE_CHECKING

from loadgen.plugins.evals.grading.plain_answers import choice
from workloads.score import Score, graded, pending, unparsed
from workloads.scorer import Scorer

if TYPE_CHECKING:
    from workloads.answer import Answer
    from workloads.scorer import Reference


def letter_scorer(options: int) -> Scorer:
    """A scorer of questions whose right answer is one of the first `options` letters.

    A question with another right answer stays `judge_pending`.
    """
    letters = tuple(string.ascii_uppercase[:options])

    def grade(reference: Reference, answer: Answer) -> Score:
        if reference["answer"] not in letters:
            return pending("the right answer is not a letter: a judge must compare the answers")
        chosen = choice(answer.text, options)
        return (
            unparsed("no letter of an option")
            if chosen is None
            else graded(chosen == reference["answer"], chosen)
        )

    return Scorer(
        "letter",
        1,
        grade,
        "this project's: the letter that the answer announces last, or has alone",
        note="Without a judge; not comparable with figures of the official definition.",
    )
