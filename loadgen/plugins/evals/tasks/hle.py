"""Humanity's Last Exam: 2,500 questions at the border of expert knowledge (Phan et al., arXiv:2501.14249).

About one in seven has an image. A judge compares the answer with the right one; the score is over all
questions, judged or not. `hle_text_only` leaves the questions with images out, and is another benchmark: its
figures are not those of `hle`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from loadgen.plugins.evals.grading.calibration_error import CALIBRATION_ERROR, CALIBRATION_ERROR_OF_ALL
from loadgen.plugins.evals.grading.hle_judgement import SCHEMA, judgement_in
from loadgen.plugins.evals.judging.judge_prompts import judge_prompts
from loadgen.plugins.evals.tasks.benchmarks import benchmark
from loadgen.plugins.evals.tasks.letter_scorer import letter_scorer
from workloads.cells import tag, text
from workloads.errors import TaskError, did_you_mean
from workloads.question import Question
from workloads.sample import Sample
from workloads.score import Score, graded, pending, unreadable
from workloads.scorer import Headline, Inquiry, Reference, Scorer

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from workloads.answer import Answer
    from workloads.sources import FileRow
    from workloads.workload import Inputs

_SYSTEM: Final = (
    "Your response should be in the following format:\n"
    "Explanation: {your explanation for your answer choice}\n"
    "Answer: {your chosen answer}\n"
    "Confidence: {your confidence score between 0% and 100% for your answer}"
)
_KEY: Final = "verdict"
_ANY: Final = "any"
_ANSWER_TYPES: Final = (_ANY, "multipleChoice", "exactMatch")
_PROMPTS: Final = judge_prompts("hle")
_EXTRA_BODY: Final = {
    # Reasoning models take no `max_tokens`.
    "max_completion_tokens": 4096,
    "response_format": {
        "type": "json_schema",
        "json_schema": {"name": "ExtractedAnswer", "strict": True, "schema": SCHEMA},
    },
}


def questions(inputs: Inputs) -> Iterator[Question]:
    """One question for each row of the chosen type."""
    chosen = inputs.options["answer_type"]
    if chosen not in _ANSWER_TYPES:
        near = did_you_mean(chosen, _ANSWER_TYPES)
        raise TaskError(f"hle:answer_type={chosen}: must be one of {', '.join(_ANSWER_TYPES)}{near}")
    rows = (row for row in inputs.rows if chosen in {_ANY, row["answer_type"]})
    for index, row in enumerate(rows):
        yield _question(index, row)


def text_only(inputs: Inputs) -> Iterator[Question]:
    """One question for each row of the chosen type that has no image."""
    return questions(replace(inputs, rows=(row for row in inputs.rows if not row["image"])))


def _question(index: int, row: FileRow) -> Question:
    tags = {name: tag(row, name) for name in ("category", "answer_type")}
    reference = {"question": text(row, "question"), "answer": tag(row, "answer")}
    sample = Sample(index, reference["question"], system=_SYSTEM, tags=tags)
    if row["image"]:
        sample = replace(sample, system=None, chat=_with_image(sample.prompt, text(row, "image")))
    return Question(tag(row, "id"), sample, reference)


def _with_image(text: str, image: str) -> tuple[dict[str, object], ...]:
    parts = [{"type": "text", "text": text}, {"type": "image_url", "image_url": {"url": image}}]
    return {"role": "system", "content": _SYSTEM}, {"role": "user", "content": parts}


def ask(reference: Reference, answer: Answer) -> Sequence[Inquiry]:
    """An inquiry: whether the answer is right, and the model's stated confidence."""
    messages = _PROMPTS.prompts["verdict"].messages(
        question=reference["question"], correct_answer=reference["answer"], response=answer.text
    )
    return (Inquiry(_KEY, messages, extra_body=_EXTRA_BODY),)


def grade(_reference: Reference, answer: Answer) -> Score:
    """1 where the judge says yes."""
    judge_text = answer.judged.get(_KEY)
    if judge_text is None:
        return pending()
    judgement = judgement_in(judge_text)
    if judgement is None:
        return unreadable("judgement with `correct` (yes or no) and `confidence`", judge_text)
    return graded(judgement.correct, judgement.extracted, confidence=judgement.confidence / 100)


WORKLOAD: Final = benchmark(
    "hle",
    questions,
    Scorer(
        "official",
        1,
        grade,
        "centerforaisafety/hle, hle_eval/run_judge_results.py",
        headlines=(Headline("accuracy"), CALIBRATION_ERROR, CALIBRATION_ERROR_OF_ALL),
        ask=ask,
        judge=_PROMPTS.label,
    ),
    letter_scorer(26),
)

TEXT_ONLY: Final = benchmark("hle_text_only", text_only, *WORKLOAD.scorers)
