"""Questions about a document, answered with citations; some are unanswerable. Data of our own."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from loadgen.plugins.evals.grading.json_answer import json_in, plain
from loadgen.plugins.evals.headlines import metric_shares
from loadgen.plugins.evals.prompts import prompt
from loadgen.plugins.evals.tasks.benchmarks import benchmark
from loadgen.plugins.evals.tasks.use_cases import difficulty, official
from workloads.question import Question
from workloads.sample import Sample
from workloads.score import Score, graded, unparsed
from workloads.scorer import Headline, Reference

if TYPE_CHECKING:
    from collections.abc import Iterator

    from workloads.answer import Answer
    from workloads.workload import Inputs

_SYSTEM: Final = prompt("document_qa", "system")

_NUMBER: Final = re.compile("[0-9]{1,9}")
_FIGURES: Final = ("answer_right", "citations_right", "invented")


def questions(inputs: Inputs) -> Iterator[Question]:
    """The document with numbered paragraphs, followed by the question."""
    for index, row in enumerate(inputs.rows):
        paragraphs = "\n".join(f"[{number}] {text}" for number, text in enumerate(row["paragraphs"], start=1))
        asked = f"Document:\n{paragraphs}\n\nQuestion: {row['question']}"
        tags = {**difficulty(row), "answerable": "no" if row["answers"] is None else "yes"}
        reference = {name: row[name] for name in ("answers", "required", "allowed")}
        yield Question(row["id"], Sample(index, asked, _SYSTEM, tags=tags), reference)


def grade(reference: Reference, answer: Answer) -> Score:
    """Right for an accepted answer with exactly the required citations."""
    fields = json_in(answer.text, dict)
    if fields is None or "answer" not in fields:
        return unparsed("no JSON object with an answer", **dict.fromkeys(_FIGURES, 0.0))
    answers, answer_value = reference["answers"], fields["answer"]
    if answers is None:
        right, invented = answer_value is None, answer_value is not None
    else:
        right, invented = answer_value is not None and plain(answer_value) in map(plain, answers), False
    cited = _numbers(fields.get("citations", []))
    required, allowed = set(reference["required"]), {*reference["required"], *reference["allowed"]}
    well = cited is not None and required <= cited <= allowed
    reason = "invented" if invented else "" if right else "another answer"
    if not well:
        reason = f"{reason}; cites {fields.get('citations')}".removeprefix("; ")
    figures = {"answer_right": float(right), "citations_right": float(well), "invented": float(invented)}
    return graded(right and well, None if answer_value is None else str(answer_value), reason, **figures)


def _numbers(value: Any) -> set[int] | None:
    """Citations as numbers, including numbers in texts; None for any other value."""
    if not isinstance(value, list):
        return None
    numbers = [str(number).strip("[] ") for number in value if not isinstance(number, bool)]
    if len(numbers) < len(value) or not all(map(_NUMBER.fullmatch, numbers)):
        return None
    return set(map(int, numbers))


WORKLOAD: Final = benchmark(
    "document_qa",
    questions,
    official(
        grade,
        "an accepted answer, and exactly the paragraphs that it rests on",
        *metric_shares("answer_right", "citations_right"),
        Headline(
            "invented",
            "coalesce(sum(metrics['invented']) FILTER (tags['answerable'] = 'no'), 0) "
            "/ nullif(count(*) FILTER (tags['answerable'] = 'no'), 0)",
            better="lower",
        ),
    ),
)
