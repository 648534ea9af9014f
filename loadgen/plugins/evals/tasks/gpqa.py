"""GPQA: questions that only experts answer, with four options (Rein et al., arXiv:2311.12022).

Diamond has 198 questions that both experts answered and others did not, Main 448, Extended all 546.

The four answers of each row are put in the order that openai/simple-evals puts them in, one draw of
`random.Random(0)` a row, so that the right one is at any letter.
"""

from __future__ import annotations

from itertools import chain, repeat
from random import Random
from typing import TYPE_CHECKING, Final

from loadgen.plugins.evals.grading.choices import ask, letter
from loadgen.plugins.evals.tasks.benchmarks import benchmark
from workloads.cells import tag, text
from workloads.errors import TaskError
from workloads.question import Question
from workloads.sample import Sample
from workloads.score import Score, graded, unparsed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from workloads.answer import Answer
    from workloads.scorer import Reference
    from workloads.workload import Inputs

_RIGHT: Final = "Correct Answer"
_ANSWERS: Final = (_RIGHT, "Incorrect Answer 1", "Incorrect Answer 2", "Incorrect Answer 3")
_LETTERS: Final = "ABCD"
_DOMAINS: Final = {"domain": "High-level domain", "subdomain": "Subdomain"}


def questions(inputs: Inputs) -> Iterator[Question]:
    """One question a row; all rows once for each of the orders that were asked for."""
    orders = inputs.options["orders"]
    if orders < 1:
        raise TaskError(f"gpqa:orders={orders}: must be 1 or more")
    rows = list(inputs.rows)
    draw = Random(0)  # noqa: S311 (the benchmark's own order)
    for index, row in enumerate(chain.from_iterable(repeat(rows, orders))):
        options = [text(row, _ANSWERS[place]) for place in draw.sample(range(4), 4)]
        tags = {name: tag(row, column) for name, column in _DOMAINS.items() if column in row.value}
        sample = Sample(index, ask(text(row, "Question"), options), tags=tags)
        copy, number = divmod(index, len(rows))
        name = str(number) if copy == 0 else f"{number}#{copy + 1}"
        yield Question(name, sample, {"answer": _LETTERS[options.index(row[_RIGHT])]})


def grade(reference: Reference, answer: Answer) -> Score:
    """Right where the letter is the right one, as a capital."""
    chosen = letter(answer.text)
    if chosen is None:
        return unparsed("no `Answer: LETTER`")
    return graded(chosen == reference["answer"], chosen)


WORKLOAD: Final = benchmark("gpqa", questions, official=grade)
