"""MMLU: 14,042 questions of 57 subjects with four options each (Hendrycks et al., arXiv:2009.03300).

The paper compares the probabilities of the four letters after five examples, which a chat endpoint does not
tell. This is the definition for answers in words: no examples, and the letter is read from the line that was
asked for.
"""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Final

from loadgen.plugins.evals.grading.choices import ask
from loadgen.plugins.evals.grading.multilingual_letter import letter
from loadgen.plugins.evals.headlines import by_tag
from loadgen.plugins.evals.tasks.benchmarks import benchmark
from loadgen.plugins.evals.tasks.letter_scorer import letter_scorer
from workloads.cells import text, texts
from workloads.errors import ColumnError
from workloads.question import Question
from workloads.sample import Sample
from workloads.score import Score, graded, unparsed
from workloads.scorer import Headline, Reference, Scorer

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from workloads.answer import Answer
    from workloads.sources import FileRow
    from workloads.workload import Inputs

_LETTERS: Final = "ABCD"
_SUBJECTS: Final[Mapping[str, str]] = {
    "stem": "abstract_algebra astronomy college_biology college_chemistry college_computer_science "
    "college_mathematics college_physics computer_security conceptual_physics electrical_engineering "
    "elementary_mathematics high_school_biology high_school_chemistry high_school_computer_science "
    "high_school_mathematics high_school_physics high_school_statistics machine_learning",
    "humanities": "formal_logic high_school_european_history high_school_us_history "
    "high_school_world_history international_law jurisprudence logical_fallacies moral_disputes "
    "moral_scenarios philosophy prehistory professional_law world_religions",
    "social_sciences": "econometrics high_school_geography high_school_government_and_politics "
    "high_school_macroeconomics high_school_microeconomics high_school_psychology human_sexuality "
    "professional_psychology public_relations security_studies sociology us_foreign_policy",
}
_OTHER: Final = "other"
_CATEGORIES: Final[Mapping[str, str]] = {
    subject: category for category, subjects in _SUBJECTS.items() for subject in subjects.split()
}


def questions(inputs: Inputs) -> Iterator[Question]:
    """One question a row."""
    for index, row in enumerate(inputs.rows):
        subject = text(row, "subject")
        tags = {"subject": subject, "category": _CATEGORIES.get(subject, _OTHER)}
        prompt = ask(text(row, "question"), texts(row, "choices", least=4, limit=4))
        yield Question(str(index), Sample(index, prompt, tags=tags), {"answer": _answer(row)})


def grade(reference: Reference, answer: Answer) -> Score:
    """Right where the letter is the right one, as a capital."""
    chosen = letter(answer.text)
    if chosen is None:
        return unparsed("no `Answer: LETTER`")
    return graded(chosen == reference["answer"], chosen)


def _answer(row: FileRow) -> str:
    """The letter of the right option, from a number or a letter."""
    value = row["answer"]
    if isinstance(value, int) and value in range(len(_LETTERS)):
        return _LETTERS[value]
    if isinstance(value, str) and value in set(_LETTERS):
        return value
    raise ColumnError(f"{row.place}, column 'answer': {value!r}, where 0 to 3 or A to D should be")


WORKLOAD: Final = benchmark(
    "mmlu",
    questions,
    Scorer(
        "official",
        1,
        grade,
        "openai/simple-evals at ee3b0318, mmlu_eval.py (answers in words, no examples)",
        headlines=(
            Headline("accuracy"),
            *by_tag("category", chain(_SUBJECTS, [_OTHER])),
        ),
        note="Not comparable with figures made of the probabilities of letters after five examples.",
    ),
    letter_scorer(len(_LETTERS)),
)
