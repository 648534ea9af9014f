r"""The letter that an answer to SuperGPQA gives.

By `eval/eval.py` of SuperGPQA/SuperGPQA at commit 03a3e27: a letter in the last line, then in the whole
text; else the text of an option, likewise.

Between the announcement and the letter may stand nothing but markup, for which the official regular
expressions have a group that repeats a group that may be empty: over a row of asterisks they take
exponential time (the official code gives each five seconds, and then goes on as if it had found nothing).
These try the same places in the same order, each once.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

_SIGN: Final = r"[*${(\[\\]"
_COMMAND: Final = r"\\(?:boxed|mathbf|mathrm|text)\{"
_COMMANDS: Final = f"(?:{_COMMAND})*"
_MARKUP: Final = rf"{_COMMANDS}(?:{_SIGN}{_COMMANDS})*?"
"""As `(?:SIGN*?COMMAND?)*`: commands are passed over at once, signs one by one as nothing else fits."""

_SPACE: Final = r"(?:(?<!\s)\s*)?"
r"""As `\s*` behind what may be nothing behind another `\s*`."""

_END: Final = r"[\\}$)\]]*(?:[\s:.*)]|$)"
_THE_ANSWER: Final = r"[Tt]he\s+(?:\w+\s+)?(?:answer|option)(?:\w+\s)?\s+"
_ALONE: Final = rf"^[^\w\r\n]*(?:{_COMMAND}{_MARKUP}\s*|(?:(?=[\r\n])\s*)?)"
"""As `^[^\\w\r\n]*MARKUP\\s*`."""

_LETTERS: Final = tuple(
    re.compile(f"{start}([ABCDEFGHIJ]){_END}", re.IGNORECASE)
    for start in (
        rf"{_THE_ANSWER}is?:?\s*{_MARKUP}{_SPACE}",
        rf"Answer[*\s]*:\s*{_MARKUP}{_SPACE}",
        _ALONE,
    )
)


def letter(text: str, options: Sequence[str]) -> str | None:
    """The letter, in the original case where the answer has a letter; None without one.

    Args:
        text: The answer.
        options: The texts of the options, in their order.
    """
    return _search(_LETTERS, text) or _by_content(text, options)


def _by_content(text: str, options: Sequence[str]) -> str | None:
    escaped = [re.escape(option) for option in options]
    letter = _search(_contents(escaped), text)
    if not letter:
        return None
    # The official code takes a text that is another option's escaped one for that option.
    index = escaped.index(letter) if letter in escaped else options.index(letter)
    return chr(ord("A") + options.index(options[index]))


def _contents(escaped: Sequence[str]) -> tuple[re.Pattern[str], ...]:
    either = "|".join(escaped)
    return tuple(
        re.compile(f"{start}({either}){_END}")
        for start in (
            rf"{_THE_ANSWER}is:?\s*{_MARKUP}{_SPACE}",
            rf"(?i:Answer)\s*{_MARKUP}{_SPACE}",
            _ALONE,
        )
    )


def _search(patterns: Sequence[re.Pattern[str]], text: str) -> str | None:
    """The first match of the patterns, in the last line before the whole text."""
    text = text.rstrip()
    for part in (text[text.rfind("\n") + 1 :], text):
        for pattern in patterns:
            if match := pattern.search(part):
                return match[1]
    return None
