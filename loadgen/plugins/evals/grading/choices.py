"""Multiple choice with four options, by openai/simple-evals at commit ee3b0318."""

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
    """The letter after the first `Answer:` with a letter, in the original case."""
    match = _ANSWER.search(text)
    return None if match is None else match[1]
