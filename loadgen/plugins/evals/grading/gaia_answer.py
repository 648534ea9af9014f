"""GAIA's comparison of an answer with the right one: as a number, a list or a text (arXiv:2311.12983).

The definition is `scorer.py` of the benchmark's leaderboard, `question_scorer`.
"""

from __future__ import annotations

import re
import string
from typing import Final

_UNITS: Final = str.maketrans("", "", "$%,")
_MARKS: Final = str.maketrans("", "", string.punctuation)
_SEPARATOR: Final = re.compile("[,;]")


def is_right(answer: str, wanted: str) -> bool:
    """Whether an answer is right; the expected answer decides how both are parsed."""
    if _number(wanted) is not None:
        return _same_number(answer, wanted)
    if not _SEPARATOR.search(wanted):
        return _plain(answer).translate(_MARKS) == _plain(wanted).translate(_MARKS)
    ours, theirs = _SEPARATOR.split(answer), _SEPARATOR.split(wanted)
    return len(ours) == len(theirs) and all(map(_same_part, ours, theirs))


def _same_part(answer: str, wanted: str) -> bool:
    """Of lists, in which punctuation counts."""
    if _number(wanted) is not None:
        return _same_number(answer, wanted)
    return _plain(answer) == _plain(wanted)


def _same_number(answer: str, wanted: str) -> bool:
    """Whether both are one number; a text without a number is infinite, as in the official code."""
    number = _number(answer.translate(_UNITS))
    return (float("inf") if number is None else number) == float(wanted)


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def _plain(text: str) -> str:
    return re.sub(r"\s", "", text).lower()
