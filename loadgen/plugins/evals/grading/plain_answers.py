"""Short answers in a normal form: texts, letters of choices, sets of items."""

from __future__ import annotations

import re
import string
import unicodedata
from collections import deque
from typing import TYPE_CHECKING, Any, Final

from loadgen.plugins.evals.grading.json_answer import json_in

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

_PUNCTUATION: Final = "P"
"""Unicode's categories of punctuation begin with it; symbols such as `+`, `=` and `$` have others."""


def normalized(text: str) -> str:
    """A text in normal form: NFKD, lower case, without punctuation, with single blanks.

    A minus sign and a decimal point are punctuation as well: `-3.5` becomes `35`.
    """
    lower = unicodedata.normalize("NFKD", text).lower()
    letters = (letter for letter in lower if not unicodedata.category(letter).startswith(_PUNCTUATION))
    return " ".join("".join(letters).split())


def contains_words(part: str, text: str) -> bool:
    """Whether one normalized text is in another, and not within a longer word or number.

    Only a letter of a to z or a digit next to it makes a word longer, so that scripts without blanks between
    words are searched as well.
    """
    before = r"(?<![a-z0-9])" if part[:1].isascii() else ""
    after = r"(?![a-z0-9])" if part[-1:].isascii() else ""
    return re.search(before + re.escape(part) + after, text) is not None


# Multiple choice…

_ANNOUNCED: Final = (
    r"(?i:answer|choice|option)[*_]{0,3}(?i:\s{1,3}is\s{0,3}[:=]?|\s{0,3}[:=])"
    r"(?i:\s{1,3}(?:option|choice))?[\s*_`\"'(\[{$]{0,12}(?:\\(?:text|mathrm|boxed)\{)?"
)
"""What stands before a letter that is announced; the length of each part is bounded, for linear time."""


def choice(text: str, options: int) -> str | None:
    r"""The letter of the chosen option, in upper case; None without one.

    The first of these that finds a letter counts, of several places the last:

    1. it is announced: `Answer: B`, `the answer is (B)`, `\boxed{B}`
    2. the whole answer, or its last line, is a letter, in brackets or with marks around it: `**(b)**`
    3. the answer begins with a letter and a mark: `B) Paris`, `B. Paris`
    4. one letter alone is in the answer, however often, and no other does. `A` and `I` are words where
       another word follows.
    """
    letters = string.ascii_uppercase[:options]
    return next((letter for rule in _CASCADE if (letter := rule(text, letters)) is not None), None)


def _announced(text: str, letters: str) -> str | None:
    letter = rf"(?:([{letters}])|([{letters.lower()}])(?!\s+\w))(?![\w'])"
    announced = _last(_ANNOUNCED + letter, text)
    boxed = _last(rf"\\boxed\{{\s{{0,3}}(?:\\(?:text|mathrm)\{{)?\(?{letter}\)?\}}", text)
    matches = [match for match in (announced, boxed) if match is not None]
    if not matches:
        return None
    last = max(matches, key=re.Match.start)
    return (last[1] or last[2]).upper()


def _alone(text: str, letters: str) -> str | None:
    for part in (text.strip(), text.strip().rpartition("\n")[2]):
        bare = part.strip(" \t\r\n*_`\"'()[]{}.,:;!$")
        if len(bare) == 1 and bare.upper() in letters:
            return bare.upper()
    return None


def _first(text: str, letters: str) -> str | None:
    match = re.match(rf"[\s*_`(\[]{{0,8}}([{letters}{letters.lower()}])[)\].:*](?!\w)", text)
    return None if match is None else match[1].upper()


def _only(text: str, letters: str) -> str | None:
    places = re.finditer(rf"(?<![\w'])(?![AI]\s+[a-z])([{letters}])(?![\w'])", text)
    alone = {match[1] for match in places}
    return alone.pop() if len(alone) == 1 else None


def _last(pattern: str, text: str) -> re.Match[str] | None:
    last = deque(re.finditer(pattern, text), maxlen=1)
    return last[0] if last else None


_CASCADE: Final[tuple[Callable[[str, str], str | None], ...]] = (_announced, _alone, _first, _only)


# Sets…

_ANNOUNCED_LIST: Final = re.compile(
    r"^[\s*_]{0,8}(?:final )?answer[\s*_]{0,4}:[ \t*_]{0,8}(.*)$", re.IGNORECASE | re.MULTILINE
)
_BULLET: Final = re.compile(r"^\s*(?:[-*•]|\d{1,4}[.)])\s+")
_BETWEEN: Final = re.compile(r"[,;\n]")


def items(text: str) -> frozenset[str]:
    """The items of a listed answer, each `normalized`, without empty items.

    A JSON list, alone, in a fenced block or at the end; else what follows the last `Answer:` at the beginning
    of a line; else the whole answer: with commas, semicolons or lines between, and without list marks.
    """
    listed = json_in(text, list)
    if listed is not None:
        return as_items(listed)
    matches = deque(_ANNOUNCED_LIST.finditer(text), maxlen=1)
    listing = matches[0][1].strip("*_ []") if matches and matches[0][1].strip() else text
    return as_items(_BULLET.sub("", part) for part in _BETWEEN.split(listing))


def as_items(values: Iterable[Any]) -> frozenset[str]:
    """Values as items are compared, those that are empty left out."""
    return frozenset(filter(None, (normalized(str(value)) for value in values)))


def jaccard(answered: frozenset[str], wanted: frozenset[str]) -> float:
    """The size of the intersection of two sets over that of the union; 1 for two empty sets."""
    either = answered | wanted
    return len(answered & wanted) / len(either) if either else 1.0
