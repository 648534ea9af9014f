"""E-mail triage: category, priority, whether a person expects an answer, and a draft. Data of our own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from loadgen.plugins.evals.grading.json_answer import json_in, plain
from loadgen.plugins.evals.headlines import metric_shares
from loadgen.plugins.evals.tasks.benchmarks import benchmark
from loadgen.plugins.evals.tasks.criteria import judged
from loadgen.plugins.evals.tasks.difficulty import BY_DIFFICULTY, difficulty
from workloads.question import Question
from workloads.sample import Sample
from workloads.score import Score, graded, unparsed
from workloads.scorer import Headline, Reference, Scorer

if TYPE_CHECKING:
    from collections.abc import Iterator

    from workloads.answer import Answer
    from workloads.workload import Inputs

_SYSTEM: Final = """\
You triage the mail of a software company. Reply with one JSON object and nothing else:
{"category": "...", "priority": "...", "needs_reply": true or false, "draft": "..." or null}

category, the first that fits:
  spam          fraud or advertising that nobody asked for
  newsletter    sent to many, with news
  notification  written by a machine about the state of something
  security      a weakness in our product
  legal         from an authority or a lawyer, or about a duty by law
  outage        something of ours does not work for many customers
  billing       payments, invoices, subscriptions
  question      a customer needs help
  feedback      thanks, praise, ideas

priority: urgent if harm grows by the hour or an answer is needed today; low if nobody is waiting for
anything from us; otherwise normal.

needs_reply: whether a person expects an answer from us.

draft: where needs_reply is true, the answer to be sent: two to six sentences that say what the sender needs
to know, without facts that you do not have; else null."""

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
    Scorer(
        "official",
        2,
        grade,
        "this project: all three fields are right, and a draft is there exactly where one is needed",
        headlines=(
            Headline("accuracy"),
            *metric_shares(*_FIELDS, _DRAFT),
            *BY_DIFFICULTY,
        ),
    ),
    judged(grade, shown=draft_in),
)
