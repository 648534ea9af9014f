"""Multiple choice with four options, as openai/simple-evals asks and reads it, at commit ee3b0318."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

_PROMPT: Final = """\
Answer the following multiple choice question. The last line of your response should be of the following \
format: 'Answer: $LETTER' (without quotes) where LETTER is one of ABCD. Think step by step before answering.

{question}

A) {a}
B) {b}
C) {c}
D) {d}"""

_ANSWER: Final = re.compile(r"(?i)Answer[ \t]*:[ \t]*\$?([A-D])\$?")


def ask(question: str, options: Sequence[str]) -> str:
    """The prompt of a question with four options."""
    a, b, c, d = options
    return _PROMPT.format(question=question, a=a, b=b, c=c, d=d)


def letter(text: str) -> str | None:
    """What follows the first `Answer:` that a letter follows, in the case that it was written in."""
    match = _ANSWER.search(text)
    return None if match is None else match[1]
