"""The judgement of Humanity's Last Exam: correctness, and the model's stated confidence.

The judge is asked for JSON of a schema. One that cannot keep to a schema may put the JSON between other text,
or write the members a line each; what is neither is not a judgement (centerforaisafety/hle,
`hle_eval/run_judge_results.py`, where it is left out of everything but the number of questions).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Final

import orjson

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


@dataclass(frozen=True, slots=True)
class Judgement:
    """A judge's verdict on one answer.

    Attributes:
        correct: Whether the answer is right.
        confidence: How sure the answer was of itself, in percent.
        extracted: What the judge took for the answer.
    """

    correct: bool
    confidence: int
    extracted: str


def judgement_in(text: str) -> Judgement | None:
    """Parse a judgement; None if the reply is not a judgement."""
    fields = _object_in(text)
    return _from_lines(text) if fields is None else _from_object(fields)


def _object_in(text: str) -> dict[str, Any] | None:
    """The JSON object of a text, from the first brace to the last."""
    for candidate in (text, text[text.find("{") : text.rfind("}") + 1]):
        try:
            value = orjson.loads(candidate)
        except orjson.JSONDecodeError:
            continue
        if isinstance(value, dict):
            return value
    return None


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
