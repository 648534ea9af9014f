"""Multiple choice: four options by openai/simple-evals at commit ee3b0318, and the scorer `letter`."""

from __future__ import annotations

import re
import string
from typing import TYPE_CHECKING, Final

from loadgen.plugins.evals.grading.plain_answers import choice
from loadgen.plugins.evals.prompts import prompt
from workloads.score import Score, graded, pending, unparsed
from workloads.scorer import Scorer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from workloads.answer import Answer
    from workloads.scorer import Reference

_PROMPT: Final = prompt("choices", "prompt")

_ANSWER: Final = re.compile(r"(?i)Answer[ \t]*:[ \t]*\$?([A-D])\$?")


def ask(question: str, options: Sequence[str]) -> str:
    """The prompt of a question with four options."""
    a, b, c, d = options
    return _PROMPT.format(question=question, a=a, b=b, c=c, d=d)


def letter(text: str) -> str | None:
    """The letter after the first `Answer:` with a letter, in the original case."""
    match = _ANSWER.search(text)
    return None if match is None else match[1]


def letter_scorer(options: int) -> Scorer:
    """A scorer of questions with one of the first `options` letters as the right answer.

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
