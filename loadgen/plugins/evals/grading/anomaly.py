"""Anomalies in logs (LogHub): precision, recall and F1 of the anomalous class.

logpai/loglizer at ac67f972, `loglizer/utils.py`. Accuracy is shown with the base rate: where few windows are
anomalous, an answer that always says normal has a high one.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from lazy_dataclasses import dataclass

if TYPE_CHECKING:
    from collections.abc import Sequence

_WORD: Final = re.compile(r"\b(anomal(?:y|ous|ies)|normal)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Detection:
    """Figures of a run, as shares.

    Attributes:
        precision: Of what was called anomalous, that which is; 0 where nothing was.
        recall: Of what is anomalous, that which was called so; 0 where nothing is.
        f1: The harmonic mean of both.
        accuracy: Of all, that which is right.
        base_rate: Of all, that which is anomalous.
        unparsed: Of all, answers that say neither; they are wrong, as if they said the other.
    """

    precision: float
    recall: float
    f1: float
    accuracy: float
    base_rate: float
    unparsed: float


def anomaly_in(text: str) -> bool | None:
    """Whether an answer says `anomaly` (or `anomalous`) before `normal`; None without either word."""
    match = _WORD.search(text)
    return None if match is None else match[1].lower() != "normal"


def detection(answers: Sequence[bool | None], labels: Sequence[bool]) -> Detection:
    """Compare answers with labels.

    Raises:
        ValueError: They are not as many, or there is none.
    """
    if not labels or len(answers) != len(labels):
        raise ValueError("answers and labels must be as many, and at least one")
    verdicts = [
        (not label) if answer is None else answer for answer, label in zip(answers, labels, strict=True)
    ]
    hits = sum(answer and label for answer, label in zip(verdicts, labels, strict=True))
    precision = hits / sum(verdicts) if any(verdicts) else 0.0
    recall = hits / sum(labels) if any(labels) else 0.0
    return Detection(
        precision,
        recall,
        2 * precision * recall / (precision + recall) if hits else 0.0,
        sum(answer == label for answer, label in zip(verdicts, labels, strict=True)) / len(labels),
        sum(labels) / len(labels),
        answers.count(None) / len(answers),
    )
