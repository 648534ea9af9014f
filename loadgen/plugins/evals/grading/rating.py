"""The rating that a judge gives an answer: `[[7]]` (lm-sys/FastChat, fastchat/llm_judge/common.py)."""

from __future__ import annotations

import re
from typing import Final

_RATINGS: Final = (
    re.compile(r"\[\[(\d{1,9}(?:\.\d*)?)\]\]", re.ASCII),
    re.compile(r"\[(\d{1,9}(?:\.\d*)?)\]", re.ASCII),
)


def rating_in(text: str) -> float | None:
    """The first rating in two brackets, else the first in one; None where there is none."""
    for pattern in _RATINGS:
        if match := pattern.search(text):
            return float(match[1])
    return None
