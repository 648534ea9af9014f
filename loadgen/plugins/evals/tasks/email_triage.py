"""E-mail triage: category, priority, whether a person expects an answer, and a draft. Data of our own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from loadgen.plugins.evals.grading.json_answer import json_in, plain
from loadgen.plugins.evals.headlines import metric_shares
from loadgen.plugins.evals.prompts import prompt
from loadgen.plugins.evals.tasks.benchmarks import benchmark
from loadgen.plugins.evals.tasks.use_cases import difficulty, judged, official
from workloads.question import Question
from workloads.sample import Sample
from workloads.score import Score, graded, unparsed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from workloads.answer import Answer
    from workloads.scorer import Reference
    from workloads.workload import Inputs

_SYSTEM: Final = prompt("email_triage", "system")

_FIELDS: Final = ("category", "priority", "needs_reply")
_DRAFT: Final = "draft"
_INVENTS_NOTHING: Final = (
    "The draft states no fact, price, date or promise that the mail does not support; saying that the "
    "team will look into it, or answer, is allowed."
)
_IS_POLITE: Final = "The draft is polite, and can be sent to the sender as it is, with no blanks to fill in."


def questions(inputs: Inputs) -> Iterator[Question]:
    """One mail a question."""
    for index, row in enumerate(inputs.rows):
        mail = f"From: {row['sender']}\nSubject: {row['subject']}\n\n{row['body']}"
        tags = {**difficulty(row), **{name: row[name] for name in ("category", "priority")}}
        criteria = [*row[_DRAFT], _INVENTS_NOTHING, _IS_POLITE] if row["needs_reply"] else []
        reference = {name: row[name] for name in _FIELDS} | {"asked": mail, "criteria": criteria}
        yield Question(row["id"], Sample(index, mail, _SYSTEM, tags=tags), reference)


def grade(reference: Reference, answer: Answer) -> Score:
    """Right where all three fields are, and a draft is there exactly where one is needed."""
    fields = json_in(answer.text, dict)
    if fields is None:
        return unparsed("no JSON object", **dict.fromkeys((*_FIELDS, _DRAFT), 0.0))
    right = {name: _alike(fields.get(name), reference[name]) for name in _FIELDS}
    wrong = [f"{name} is {reference[name]}" for name, is_right in right.items() if not is_right]
    right[_DRAFT] = bool(draft_in(answer)) is reference["needs_reply"]
    if not right[_DRAFT]:
        wrong.append("no draft" if reference["needs_reply"] else "a draft that is not needed")
    taken = ", ".join(f"{name}={fields.get(name)}" for name in _FIELDS)
    figures = {name: float(is_right) for name, is_right in right.items()}
    return graded(not wrong, taken, ", ".join(wrong), **figures)


def draft_in(answer: Answer) -> str:
    """The draft of an answer; empty without one."""
    draft = (json_in(answer.text, dict) or {}).get(_DRAFT)
    return draft.strip() if isinstance(draft, str) else ""


def _alike(value: object, right: object) -> bool:
    """Whether two values are equal; a boolean equals no text."""
    return value is right if isinstance(right, bool) else isinstance(value, str) and plain(value) == right


WORKLOAD: Final = benchmark(
    "email_triage",
    questions,
    official(
        grade,
        "all three fields are right, and a draft is there exactly where one is needed",
        *metric_shares(*_FIELDS, _DRAFT),
        version=2,
    ),
    judged(grade, shown=draft_in),
)
