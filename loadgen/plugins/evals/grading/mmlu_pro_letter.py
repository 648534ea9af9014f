"""The letter that an answer to MMLU-Pro gives, by three rules, one after the other.

They are `extract_answer`, `extract_again` and `extract_final` of TIGER-AI-Lab/MMLU-Pro at commit f418b116,
the same in all of its scripts. The regular expressions of the second and the third take time that grows
with the square of a line's length; these find the same letters in linear time.
"""

from __future__ import annotations

import re
from collections import deque
from typing import Final

LETTERS: Final = "ABCDEFGHIJ"

_IS: Final = re.compile(r"answer is \(?([A-J])\)?")
_ANNOUNCED: Final = re.compile(r"[aA](?=nswer:\s*([A-J]))")
_ALONE: Final = re.compile(r"\b[A-J]\b")


def letter(text: str) -> str | None:
    """By the first of the three rules that finds one."""
    return after_is(text) or announced(text) or alone(text)


def after_is(text: str) -> str | None:
    """The first letter after `answer is`."""
    match = _IS.search(text)
    return None if match is None else match[1]


def announced(text: str) -> str | None:
    r"""The letter by `.*[aA]nswer:\s*([A-J])`.

    Of the first line in which such an answer begins, the last one that begins in it.
    """
    last, end = None, -1
    for match in _ANNOUNCED.finditer(text):
        if last is None:
            end = text.find("\n", match.start())
        elif 0 <= end < match.start():
            break
        last = match[1]
    return last


def alone(text: str) -> str | None:
    """The last letter that stands alone."""
    last = deque(_ALONE.finditer(text), maxlen=1)
    return last[0][0] if last else None
