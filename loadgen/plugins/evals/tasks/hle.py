"""Humanity's Last Exam: 2,500 questions at the border of expert knowledge (Phan et al., arXiv:2501.14249).

About one in seven has an image. A judge compares the answer with the right one; the score is over all
questions, judged or not. `hle_text_only` leaves the questions with images out, and is another benchmark: its
figures are not those of `hle`.

The judge is asked for JSON of a schema. One that cannot keep to a schema may put the JSON between other text,
or write a line per member; other replies are not judgements, as in centerforaisafety/hle,
`hle_eval/run_judge_results.py`.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from lazy_dataclasses import dataclass, replace
from loadgen.plugins.evals.grading.choices import letter_scorer
from loadgen.plugins.evals.grading.json_answer import object_between_braces
from loadgen.plugins.evals.judging.judge_prompts import judge_prompts
from loadgen.plugins.evals.prompts import prompt
from loadgen.plugins.evals.tasks.benchmarks import ScoreRule, benchmark
from workloads.cells import tag, text
from workloads.errors import TaskError, did_you_mean
from workloads.question import Question
from workloads.sample import Sample
from workloads.score import Score, graded, pending, unreadable
from workloads.scorer import Headline, Inquiry, Reference

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from workloads.answer import Answer
    from workloads.sources import FileRow
    from workloads.workload import Inputs

SCHEMA: Final = {
    "type": "object",
    "properties": {
        "extracted_final_answer": {"type": "string"},
        "reasoning": {"type": "string"},
        "correct": {"type": "string", "enum": ["yes", "no"]},
        "confidence": {"type": "integer"},
        "strict": {"type": "boolean", "enum": [True]},
    },
    "required": ["extracted_final_answer", "reasoning", "correct", "confidence", "strict"],
    "additionalProperties": False,
}
"""The form of a judgement; `strict` is the published one's, and says nothing."""

_CERTAIN: Final = 100
"""The confidence of an answer that names none, by the prompt."""

_PERCENT: Final = re.compile(r"\s*(-?\d{1,9})(?:\.0*)?\s*%?\s*", re.ASCII)
_LINE: Final = r"(?im)^[^\w\n{{\"]*{}[^\w\n:]*:(.*)$"
"""No member of JSON can be read: JSON that cannot be read has no members."""
_LINES: Final = {
    name: re.compile(_LINE.format(name)) for name in ("extracted_final_answer", "correct", "confidence")
}
_YES_OR_NO: Final = re.compile(r"[^\w\n]*(yes|no)\b", re.IGNORECASE)
_NUMBER: Final = re.compile(r"[^\w\n]*(\d{1,9})(?:\.0+)?(?!\.?\d)", re.ASCII)


_SYSTEM: Final = prompt("hle", "system")
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


@dataclass(frozen=True, slots=True)
class Judgement:
    """A judge's verdict on one answer, with the answer's confidence in percent."""

    correct: bool
    confidence: int
    extracted: str


def judgement_in(text: str) -> Judgement | None:
    """Parse a judgement; None if the reply is not a judgement."""
    fields = object_between_braces(text)
    return _from_lines(text) if fields is None else _from_object(fields)


def _from_object(fields: dict[str, Any]) -> Judgement | None:
    correct, confidence = fields.get("correct"), _percent(fields.get("confidence", _CERTAIN))
    if not isinstance(correct, str) or correct.strip().lower() not in {"yes", "no"} or confidence is None:
        return None
    return Judgement(
        correct.strip().lower() == "yes", confidence, str(fields.get("extracted_final_answer", ""))
    )


def _percent(value: Any) -> int | None:
    """A whole number of percent, as a number or as text; None for anything else."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return int(value) if float(value).is_integer() else None
    match = _PERCENT.fullmatch(value) if isinstance(value, str) else None
    return None if match is None else int(match[1])


def _from_lines(text: str) -> Judgement | None:
    """A judgement of a line a member; of several of a name, the last."""
    matches = {name: line.findall(text) for name, line in _LINES.items()}
    correct = _YES_OR_NO.match(matches["correct"][-1]) if matches["correct"] else None
    if correct is None:
        return None
    confidence: int | None = _CERTAIN
    if matches["confidence"]:
        number = _NUMBER.match(matches["confidence"][-1])
        confidence = None if number is None else int(number[1])
    if confidence is None:
        return None
    extracted = matches["extracted_final_answer"][-1] if matches["extracted_final_answer"] else ""
    return Judgement(correct[1].lower() == "yes", confidence, extracted.strip("* \t\r"))


def grade(_reference: Reference, answer: Answer) -> Score:
    """1 where the judge says yes."""
    judge_text = answer.judged.get(_KEY)
    if judge_text is None:
        return pending()
    judgement = judgement_in(judge_text)
    if judgement is None:
        return unreadable("judgement with `correct` (yes or no) and `confidence`", judge_text)
    return graded(judgement.correct, judgement.extracted, confidence=judgement.confidence / 100)


# The calibration error sorts the samples by confidence and cuts them into bins of 100, the last of which
# takes the rest. It is the root of the mean over bins, by their sizes, of the squared difference between the
# mean confidence and the share of right answers. The published code (`calib_err`) leaves the last bin out.

_BIN: Final = 100

_SORTED: Final = """
    list({confidence: metrics['confidence'], value: value}
        ORDER BY metrics['confidence'], prompt_id, attempt) FILTER (metrics['confidence'] IS NOT NULL)"""


def _error(bins: str, end: str) -> str:
    """The error over some bins, as a DuckDB aggregate."""
    of_bin = f"s[i * {_BIN} + 1 : {end}]"
    difference = (
        f"list_avg(list_transform({of_bin}, lambda r: r.confidence)) "
        f"- list_avg(list_transform({of_bin}, lambda r: r.value))"
    )
    each = f"len({of_bin}) / len(s) * pow({difference}, 2)"
    total = f"sqrt(coalesce(list_sum(list_transform(range({bins}), lambda i: {each})), 0))"
    # A list of one, so that the samples are sorted once and have a name.
    return f"list_transform([{_SORTED}], lambda s: CASE WHEN len(s) >= {_BIN} THEN {total} END)[1]"


_WHOLE_BINS: Final = f"len(s) // {_BIN}"

CALIBRATION_ERROR: Final = Headline(
    "calibration_error", _error(f"{_WHOLE_BINS} - 1", f"i * {_BIN} + {_BIN}"), better="lower"
)
"""As published: without the last bin; NULL below 100 samples."""

CALIBRATION_ERROR_OF_ALL: Final = Headline(
    "calibration_error_of_all",
    _error(
        _WHOLE_BINS,
        f"CASE WHEN i + 1 = {_WHOLE_BINS} THEN len(s) ELSE i * {_BIN} + {_BIN} END",
    ),
    better="lower",
)
"""By the definition, over all bins."""


WORKLOAD: Final = benchmark(
    "hle",
    questions,
    letter_scorer(26),
    official=ScoreRule(
        grade,
        headlines=(Headline("accuracy"), CALIBRATION_ERROR, CALIBRATION_ERROR_OF_ALL),
        ask=ask,
        judge=_PROMPTS.label,
    ),
)

TEXT_ONLY: Final = benchmark("hle_text_only", text_only, *WORKLOAD.scorers)
