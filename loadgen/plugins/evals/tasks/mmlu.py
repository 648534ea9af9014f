"""MMLU: 14,042 questions of 57 subjects with four options each (Hendrycks et al., arXiv:2009.03300).

The paper compares the probabilities of the four letters after five examples, which a chat endpoint does not
tell. This is the definition for answers in words: no examples, and the letter is read from the line that was
asked for.
"""

from __future__ import annotations

import re
from functools import reduce
from itertools import chain
from typing import TYPE_CHECKING, Final

from loadgen.plugins.evals.grading.choices import ask, letter_scorer
from loadgen.plugins.evals.headlines import by_tag
from loadgen.plugins.evals.tasks.benchmarks import ScoreRule, benchmark
from workloads.cells import text, texts
from workloads.errors import ColumnError
from workloads.question import Question
from workloads.sample import Sample
from workloads.score import Score, graded, unparsed
from workloads.scorer import Headline, Reference

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


# The letter is found in any of many languages: `normalize_response`, `MULTILINGUAL_ANSWER_REGEXES` and
# `normalize_extracted_answer` of openai/simple-evals (common.py).

_MARKUP: Final = (
    *("**", "$\\boxed{", "}$", "\\$", "$\\text{", "$", "\\mathrm{", "\\{", "\\text", "\\(", "\\mathbf{", "{"),
    "\\boxed",
)
"""What is taken out before anything is looked for, in this order."""

_ZERO_WIDTH: Final = "\u200b" * 6

_ANNOUNCED: Final = (
    r"Answer\s*:",
    rf"Answer\s*:{_ZERO_WIDTH}",
    r"উত্তর\s*:",
    r"उत्तर\s*:",
    r"উত্তরঃ",
    r"Antwort\s*:",
    r"답변\s*:",
    r"정답\s*:",
    r"답\s*:",
    r"答案\s*：",  # noqa: RUF001 (the colon of Chinese)
    r"答案\s*:",
    r"答\s*：",  # noqa: RUF001 (the colon of Chinese)
    r"答\s*:",
    r"答复\s*：",  # noqa: RUF001 (the colon of Chinese)
    r"答曰\s*：",  # noqa: RUF001 (the colon of Chinese)
    r"الإجابة:",
    r"الجواب:",
    r"إجابة:",
    r"الإجابة النهائية:",
    r"الإجابة الصحيحة:",
    r"الإجابة الصحيحة هي:",
    r"الإجابة هي:",
    r"الجواب النهائي:",
    r"Respuesta\s*:",
    r"Risposta\s*:",
    r"答え\s*:",
    r"答え\s*：",  # noqa: RUF001 (the colon of Japanese)
    r"回答\s*:",
    r"回答\s*：",  # noqa: RUF001 (the colon of Japanese)
    r"解答\s*:",
    r"Jawaban\s*:",
    r"Réponse\s*:",
    r"Resposta\s*:",
    r"Jibu\s*:",
    r"Idahun\s*:",
    r"Ìdáhùn\s*:",
    r"Idáhùn\s*:",
    "A\u0300m\u1ecd\u0300na\u0300\\s*:",
    r"Àdáhùn\s*:",
    "A\u0300nu\u0301go\u0323\\s*:",
    r"Àṣàyàn\s*:",
)
"""How languages announce an answer, in the order in which they are tried."""

_FOREIGN_LETTERS: Final[Mapping[str, str]] = {
    **dict(zip("\u0623\u0628\u062c\u062f", "ABCD", strict=True)),
    **dict(zip("\u0985\u09ac\u09a1\u09a2", "ABCD", strict=True)),
    **dict(zip("\uff21\uff22\uff23\uff24", "ABCD", strict=True)),
}
"""The letters of options in Arabic, in Bengali, and of full width."""

_OPTION: Final = "[ \t]*([A-D]|[\u0623-\u062f]|[\u0985]|[\u09ac]|[\u09a1]|[\u09a2]|[\uff21-\uff24])"
_PATTERNS: Final = tuple(re.compile(f"(?i){announced}{_OPTION}") for announced in _ANNOUNCED)


def letter(text: str) -> str | None:
    """The letter after the first announcement that any language has; None where there is none.

    It keeps its case: a small letter is read, and is not one of the four.
    """
    plain = reduce(lambda rest, markup: rest.replace(markup, ""), _MARKUP, text)
    match = next((match for pattern in _PATTERNS if (match := pattern.search(plain))), None)
    return None if match is None else _FOREIGN_LETTERS.get(match[1], match[1])


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
    letter_scorer(len(_LETTERS)),
    official=ScoreRule(
        grade,
        headlines=(
            Headline("accuracy"),
            *by_tag("category", chain(_SUBJECTS, [_OTHER])),
        ),
    ),
)
