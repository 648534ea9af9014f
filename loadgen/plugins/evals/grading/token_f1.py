"""The F1 of the shared words of two texts, as in AMA-Bench (`utils/evaluation_metrics.py`)."""

from __future__ import annotations

import re
from collections import Counter


def token_f1(predicted: str, golden: str) -> float:
    """F1 from 0 to 1; 1 where both have no words: case, punctuation and articles do not count."""
    first, second = _words(predicted), _words(golden)
    if not first or not second:
        return float(not first and not second)
    shared = sum((Counter(first) & Counter(second)).values())
    return 2 * shared / (len(first) + len(second))


def _words(text: str) -> list[str]:
    plain = re.sub(r"[^\w\s]", " ", text.lower())
    return re.sub(r"\b(a|an|the)\b", " ", plain).split()
