"""Letters of multiple-choice answers: random texts against the published regular expressions, as they are.

Some of those take time that grows with the square of a text's length, or exponentially: the texts are short.
"""

from __future__ import annotations

import re
from random import Random
from typing import TYPE_CHECKING, Final

from loadgen.plugins.evals.grading import choices
from loadgen.plugins.evals.tasks import mmlu_pro, supergpqa
from tests.conformance.agreement import Agreement

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

NEEDS: Final = ()

_TEXTS: Final = 10_000
_LONGEST: Final = 11
_LETTERS: Final = (*"ABCIJK", *"abij")
_SPACE: Final = (" ", "  ", "\n", "\r\n", "\t")
_PRO: Final = ("answer is ", "answer is (", "nswer:", "Answer:", "answer: ", "x", "é", "_", "1", ".", ")")
_SIMPLE: Final = ("Answer", "ANSWER", "An\u017fwer", ":", "\uff1a", "$", "**", "x")
_OPTIONS: Final = ("red", "$x$", "a (b)", "\\text{A}", "", " y", "*", "(a)")
_SUPER: Final = (
    *("The ", "THE answer is", "The best option", "answers", "Answer", "Answer:", "option", "is", "is:", ":"),
    *("*", "**", "$", "{", "}", "(", ")", "[", "]", "\\", "\\boxed{", "\\BOXED{", "\\mathbf{", "x", ".", "_"),
    *_OPTIONS,
)
_MARKUP: Final = r"(?:[\*\$\{(\[\\(]*?(?:(?:\\boxed|\\mathbf|\\mathrm|\\text){)?)*"
_CLOSED: Final = r"(?:\\?\}?\$?\)?\]?\}?)*(?:[\s:\.\*)]|$)"


def agreements(_data: Path) -> Iterator[Agreement]:
    """One line a benchmark, and one of a letter anywhere, which must not agree."""
    yield _agreement("gpqa/official, random texts", _SIMPLE, choices.letter, _gpqa)
    yield _agreement("mmlu_pro/official, random texts", _PRO, mmlu_pro.letter, _mmlu_pro)
    yield _agreement("supergpqa/official, random texts", _SUPER, _ours, _supergpqa)
    yield _agreement("gpqa, last letter, random texts", _SIMPLE, mmlu_pro.alone, _gpqa, shortcut=True)


def _agreement(
    name: str,
    pieces: Sequence[str],
    ours: Callable[[str], str | None],
    theirs: Callable[[str], str | None],
    *,
    shortcut: bool = False,
) -> Agreement:
    draw = Random(0)  # noqa: S311 (texts to try)
    some = (*pieces, *_LETTERS, *_SPACE)
    texts = ["".join(draw.choices(some, k=draw.randint(0, _LONGEST))) for _ in range(_TEXTS)]
    wrong = tuple(repr(text) for text in texts if ours(text) != theirs(text))
    return Agreement(name, len(texts), len(texts) - len(wrong), wrong=wrong, shortcut=shortcut)


def _first(*matches: re.Match[str] | None) -> str | None:
    return next((match[1] for match in matches if match), None)


def _gpqa(text: str) -> str | None:
    return _first(re.search(r"(?i)Answer[ \t]*:[ \t]*\$?([A-D])\$?", text))


def _mmlu_pro(text: str) -> str | None:
    return _first(
        re.search(r"answer is \(?([A-J])\)?", text),
        re.search(r".*[aA]nswer:\s*([A-J])", text),
        re.search(r"(\b[A-J]\b)(?!.*\b[A-J]\b)", text, re.DOTALL),
    )


def _ours(text: str) -> str | None:
    return supergpqa.letter(text, _OPTIONS)


def _supergpqa(text: str) -> str | None:
    letter = _published(text, "[ABCDEFGHIJ]", "is?", r"[\*\s]*:", re.IGNORECASE)
    if letter is not None:
        return letter
    content = _published(text, "|".join(map(re.escape, _OPTIONS)), "is", "", re.RegexFlag(0))
    return chr(ord("A") + _OPTIONS.index(content)) if content else None


def _published(text: str, wanted: str, verb: str, colon: str, flags: re.RegexFlag) -> str | None:
    tail = rf"{_MARKUP}\s*({wanted}){_CLOSED}"
    patterns = (
        rf"[Tt]he\s+(?:\w+\s+)?(?:answer|option)(?:\w+\s+)?\s+{verb}:?\s*{tail}",
        rf"(?i:Answer){colon}\s*{tail}",
        rf"^[^\w\r\n]*{tail}",
    )
    text = text.rstrip()
    parts = (text.split("\n")[-1], text)
    return _first(*(re.search(pattern, part, flags) for part in parts for pattern in patterns))
