"""The letter of a multiple-choice answer in any of many languages.

By `normalize_response`, `MULTILINGUAL_ANSWER_REGEXES` and `normalize_extracted_answer` of
openai/simple-evals at commit ee3b0318 (`common.py`).
"""

from __future__ import annotations

import re
from functools import reduce
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

_MARKUP: Final = (
    "**",
    "$\\boxed{",
    "}$",
    "\\$",
    "$\\text{",
    "$",
    "\\mathrm{",
    "\\{",
    "\\text",
    "\\(",
    "\\mathbf{",
    "{",
    "\\boxed",
)
"""What is taken out before anything is looked for, in this order."""

_ZERO_WIDTH: Final = "\u200b" * 6

_ANNOUNCED: Final = (
    r"Answer\s*:",
    rf"Answer\s*:{_ZERO_WIDTH}",
    r"উত্তর\s*:",
    r"उत्तर\s*:",
    r"উত্তরঃ",
    r"Antwort\s*:",
    r"답변\s*:",
    r"정답\s*:",
    r"답\s*:",
    r"答案\s*：",  # noqa: RUF001 (the colon of Chinese)
    r"答案\s*:",
    r"答\s*：",  # noqa: RUF001 (the colon of Chinese)
    r"答\s*:",
    r"答复\s*：",  # noqa: RUF001 (the colon of Chinese)
    r"答曰\s*：",  # noqa: RUF001 (the colon of Chinese)
    r"الإجابة:",
    r"الجواب:",
    r"إجابة:",
    r"الإجابة النهائية:",
    r"الإجابة الصحيحة:",
    r"الإجابة الصحيحة هي:",
    r"الإجابة هي:",
    r"الجواب النهائي:",
    r"Respuesta\s*:",
    r"Risposta\s*:",
    r"答え\s*:",
    r"答え\s*：",  # noqa: RUF001 (the colon of Japanese)
    r"回答\s*:",
    r"回答\s*：",  # noqa: RUF001 (the colon of Japanese)
    r"解答\s*:",
    r"Jawaban\s*:",
    r"Réponse\s*:",
    r"Resposta\s*:",
    r"Jibu\s*:",
    r"Idahun\s*:",
    r"Ìdáhùn\s*:",
    r"Idáhùn\s*:",
    "A\u0300m\u1ecd\u0300na\u0300\\s*:",
    r"Àdáhùn\s*:",
    "A\u0300nu\u0301go\u0323\\s*:",
    r"Àṣàyàn\s*:",
)
"""How languages announce an answer, in the order in which they are tried."""

_LETTERS: Final[Mapping[str, str]] = {
    "\u0623": "A",
    "\u0628": "B",
    "\u062c": "C",
    "\u062f": "D",
    "\u0985": "A",
    "\u09ac": "B",
    "\u09a1": "C",
    "\u09a2": "D",
    "\uff21": "A",
    "\uff22": "B",
    "\uff23": "C",
    "\uff24": "D",
}
"""The letters of options in Arabic, in Bengali, and of full width."""

_OPTION: Final = "[ \t]*([A-D]|[\u0623-\u062f]|[\u0985]|[\u09ac]|[\u09a1]|[\u09a2]|[\uff21-\uff24])"
_PATTERNS: Final = tuple(re.compile(f"(?i){announced}{_OPTION}") for announced in _ANNOUNCED)


def letter(text: str) -> str | None:
    """The letter after the first announcement that any language has; None where there is none.

    It keeps its case: a small letter is read, and is not one of the four.
    """
    plain = reduce(lambda rest, markup: rest.replace(markup, ""), _MARKUP, text)
    match = next((match for pattern in _PATTERNS if (match := pattern.search(plain))), None)
    return None if match is None else _LETTERS.get(match[1], match[1])
