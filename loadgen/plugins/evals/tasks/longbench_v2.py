"""LongBench v2: 503 questions with four choices about texts of up to two million words (arXiv:2412.15204).

Prompt, reading of the answer and figures are those of THUDM/LongBench at 2e00731. A prompt that is longer
than the model's context is cut in the middle there, by the model's own tokenizer: options `tokenizer` and
`max_len`.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from loadgen.plugins.evals.headlines import by_tag
from loadgen.plugins.evals.tasks.benchmarks import ScoreRule, benchmark
from workloads.cells import letter, tag, text
from workloads.errors import TaskError
from workloads.question import Question
from workloads.sample import Sample
from workloads.score import Score, Status, graded, unparsed
from workloads.scorer import Headline, Reference
from workloads.tokenizer import tokenizer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from workloads.answer import Answer
    from workloads.sources import FileRow
    from workloads.workload import Inputs

_CHOICES: Final = "ABCD"
_TEXT: Final = """Please read the following text and answer the question below.

<text>
$DOC$
</text>

"""
_QUESTION: Final = """What is the correct answer to this question: $Q$
Choices:
(A) $C_A$
(B) $C_B$
(C) $C_C$
(D) $C_D$

"""
_FORMAT: Final = 'Format your response as follows: "The correct answer is (insert answer here)".'
_WITH_TEXT: Final = _TEXT + _QUESTION + _FORMAT
_WITHOUT: Final = _QUESTION + "What is the single, most likely answer choice? " + _FORMAT
_IN_BRACKETS: Final = re.compile(r"The correct answer is \(([A-D])\)")
_BARE: Final = re.compile(r"The correct answer is ([A-D])")
_GUESS: Final = 0.25


def questions(inputs: Inputs) -> Iterator[Question]:
    """One question a row; the option `no_context` leaves the text out."""
    fit = _fitting(inputs.options["tokenizer"], inputs.options["max_len"])
    template = _WITHOUT if inputs.options["no_context"] else _WITH_TEXT
    for index, row in enumerate(inputs.rows):
        tags = {column: tag(row, column) for column in ("domain", "sub_domain", "difficulty", "length")}
        sample = Sample(index, fit(_prompt(template, row)), tags=tags)
        yield Question(text(row, "_id"), sample, {"answer": letter(row, "answer", _CHOICES)})


def _prompt(template: str, row: FileRow) -> str:
    """Fill in a template, column by column: a `$Q$` in the text is replaced, too, as officially."""
    columns = {"$DOC$": "context", "$Q$": "question"}
    columns |= {f"$C_{letter}$": f"choice_{letter}" for letter in _CHOICES}
    for mark, column in columns.items():
        template = template.replace(mark, text(row, column).strip())
    return template


def _fitting(name: str, limit: int) -> Callable[[str], str]:
    """A function that cuts a prompt in the middle to a number of tokens; no cut without a tokenizer."""
    if limit < 1:
        raise TaskError(f"longbench_v2:max_len={limit}: must be a number of tokens, from 1 on")
    if not name:
        return lambda prompt: prompt
    tokens = tokenizer(name)

    def fit(prompt: str) -> str:
        ids = tokens.encode(prompt)
        if len(ids) <= limit:
            return prompt
        remaining = ids[: limit // 2] + ids[-limit // 2 :]
        return str(tokens.decode(remaining, skip_special_tokens=True))

    return fit


def choice(text: str) -> str | None:
    """The letter of an answer; None without the requested wording."""
    plain = text.strip().replace("*", "")
    match = _IN_BRACKETS.search(plain) or _BARE.search(plain)
    return None if match is None else match[1]


def grade(reference: Reference, answer: Answer) -> Score:
    """Right where the letter is."""
    chosen = choice(answer.text)
    if chosen is None:
        return unparsed("no `The correct answer is (A)`")
    return graded(chosen == reference["answer"], chosen, "" if chosen == reference["answer"] else "wrong")


def grade_compensated(reference: Reference, answer: Answer) -> Score:
    """As `grade`, but an answer without a letter counts as a quarter right, like a guess."""
    score = grade(reference, answer)
    return score if score.status is Status.SCORED else Score(_GUESS, score.status, None, score.reason)


_HEADLINES: Final = (
    Headline("overall"),
    *by_tag("difficulty", ("easy", "hard")),
    *by_tag("length", ("short", "medium", "long")),
)

WORKLOAD: Final = benchmark(
    "longbench_v2",
    questions,
    official=ScoreRule(grade, headlines=_HEADLINES),
    compensated=ScoreRule(grade_compensated, headlines=_HEADLINES),
)
