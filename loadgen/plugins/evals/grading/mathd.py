"""The normalization of answers by the MATH benchmark, before text comparison.

By `grading/math_normalize.py` of openai/prm800k at commit 7ecc7947, which is after `math_equivalence.py` of
hendrycks/math.
"""

from __future__ import annotations

import re
from itertools import chain
from typing import Final

_TEXT: Final = re.compile(r"^\\text\{(?P<text>.+?)\}$")
_REPLACED: Final = (
    ("\n", ""),
    ("\\!", ""),
    ("\\\\", "\\"),
    ("tfrac", "frac"),
    ("dfrac", "frac"),
    ("\\left", ""),
    ("\\right", ""),
    ("^{\\circ}", ""),
    ("^\\circ", ""),
    ("\\$", ""),
)
_LONGEST_NAME: Final = 2


class _OddError(Exception):
    """An answer that fails in the official code, which then keeps the answer unchanged."""


def normalized(answer: str) -> str:
    """An answer in the form for comparison."""
    answer = answer.strip()
    if match := _TEXT.search(answer):
        answer = match["text"].strip()
    try:
        return _stripped(answer)
    except _OddError:
        return answer


def _stripped(text: str) -> str:
    for old, new in _REPLACED:
        text = text.replace(old, new)
    text = _without_unit(text)
    for _ in range(2):  # the official code does it twice, and what is left may be one again
        text = text.replace("\\%", "")
    text = text.replace(" .", " 0.").replace("{.", "{0.")
    if text.startswith("."):
        text = f"0{text}"
    name, equals, value = text.partition("=")
    if equals and "=" not in value and len(name) <= _LONGEST_NAME:
        text = value
    text = _fractions(_roots(text).replace(" ", ""))
    return _slash("\\frac{1}{2}" if text == "0.5" else text)


def _without_unit(text: str) -> str:
    before, *after = text.split("\\text{ ")
    if len(after) > 1:
        raise _OddError
    return before


def _roots(text: str) -> str:
    r"""`\sqrt3` as `\sqrt{3}`."""
    before, *after = text.split("\\sqrt")
    if "" in after:
        raise _OddError
    braced = (part if part[0] == "{" else f"{{{part[0]}}}{part[1:]}" for part in after)
    return "\\sqrt".join(chain([before], braced))


def _fractions(text: str) -> str:
    r"""`\frac12` and `\frac1{2}` as `\frac{1}{2}`."""
    made, *after = text.split("\\frac")
    for part in after:
        if not part:
            raise _OddError
        if part[0] == "{":
            made += f"\\frac{part}"
        elif len(part) == 1:
            return text
        else:
            below = part[1:] if part[1] == "{" else f"{{{part[1]}}}{part[2:]}"
            made += f"\\frac{{{part[0]}}}{below}"
    return made


def _slash(text: str) -> str:
    r"""`1/2` of whole numbers as `\frac{1}{2}`."""
    above, _, below = text.partition("/")
    try:
        a, b = int(above), int(below)
    except ValueError:
        return text
    return f"\\frac{{{a}}}{{{b}}}" if text == f"{a}/{b}" else text
