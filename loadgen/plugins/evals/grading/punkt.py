r"""Sentences by punkt (Kiss & Strunk, Computational Linguistics 32, 2006), with a model trained before.

What benchmarks mean by a number of sentences is what NLTK up to 3.9 tells, whose rules these are; NLTK 3.10
also takes curly quotes for marks at the end of a sentence, and counts differently.

A `.`, `?` or `!` may end a sentence where a mark or a blank follows. Whether it does is decided by the words
around it: an abbreviation, an initial, a number and an ellipsis end one only where the model knows the next
word as one that begins sentences.
"""

from __future__ import annotations

import re
import string
from itertools import chain, pairwise
from typing import TYPE_CHECKING, Final

from lazy_dataclasses import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

_ENDS: Final = (".", "?", "!")
_NUMBER: Final = "##number##"

# What the model knows of a word: how it was seen written, bit by bit.
_MIDDLE_UPPER: Final = 1 << 2
_UPPER: Final = 1 << 1 | _MIDDLE_UPPER | 1 << 3
_BEGIN_LOWER: Final = 1 << 4
_LOWER: Final = _BEGIN_LOWER | 1 << 5 | 1 << 6

_NO_WORD: Final = r"""[?!)";}\]*:@'({\[]"""
_MARKS: Final = r"(?:-{2,}|\.{2,}|(?:\.\s){2,}\.)"
_WORD: Final = re.compile(
    rf"""{_MARKS}|(?=[^("`{{\[:;&#*@)}}\]\-,])\S+?(?=\s|$|{_NO_WORD}|{_MARKS}|,(?=$|\s|{_NO_WORD}|{_MARKS}))|\S"""
)
_MAYBE_END: Final = re.compile(rf"[.?!](?=(?P<after>{_NO_WORD}|\s+(?P<next>\S+)))")
_CLOSING: Final = re.compile(r"""["')\]}]+?(?:\s+|(?=--)|$)""", re.MULTILINE)
_IS_NUMBER: Final = re.compile(r"-?[.,]?\d[\d,.-]*\.?")
_IS_INITIAL: Final = re.compile(r"[^\W\d]\.")
_IS_ELLIPSIS: Final = re.compile(r"\.\.+")

_Span = tuple[int, int]
"""From where to where a sentence is in its text."""


@dataclass(frozen=True, slots=True)
class PunktModel:
    """The trained parameters of a language: words in lower case, abbreviations without the last stop."""

    abbreviations: frozenset[str]
    collocations: frozenset[tuple[str, ...]]
    starters: frozenset[str]
    spellings: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class _PunktWord:
    """A word of a text, with a first classification."""

    text: str
    kind: str
    abbreviation: bool
    ends: bool


def read(folder: Path) -> PunktModel:
    """Read a model in NLTK's format: the folder of a language in `punkt_tab`."""

    def lines(name: str) -> list[str]:
        return (folder / name).read_text(encoding="utf-8").removesuffix("\n").split("\n")

    pairs = (line.split("\t") for line in lines("ortho_context.tab"))
    return PunktModel(
        frozenset(lines("abbrev_types.txt")),
        frozenset(tuple(line.split("\t")) for line in lines("collocations.tab")),
        frozenset(lines("sent_starters.txt")),
        {word: int(seen) for word, seen in pairs},
    )


def sentences(model: PunktModel, text: str) -> list[str]:
    """The sentences of a text, without the blanks between sentences."""
    return [text[start:end] for start, end in _closed(text, _split(model, text))]


def _split(model: PunktModel, text: str) -> Iterator[_Span]:
    """Cut a text after every mark that ends a sentence."""
    begin = 0
    for match, context in _contexts(text):
        if _has_end(model, context):
            yield begin, match.end()
            begin = match.end() if match["next"] is None else match.start("next")
    yield begin, len(text.rstrip())


def _contexts(text: str) -> Iterator[tuple[re.Match[str], str]]:
    """Each possible sentence end, with the words before and after."""
    start = end = 0
    before = None
    for match in _MAYBE_END.finditer(text):
        blank = max(text.rfind(blank_letter, end, match.start()) for blank_letter in string.whitespace)
        # A blank right after the last mark counts as none, which makes `? !` one context: as in NLTK.
        next_start = blank + 1 if blank > end else start
        if before is not None and end <= next_start:
            yield before, text[start:end] + before[0] + before["after"]
        before, start, end = match, next_start, match.start()
    if before is not None:
        yield before, text[start:end] + before[0] + before["after"]


def _closed(text: str, spans: Iterator[_Span]) -> Iterator[_Span]:
    """Move quotes and brackets at the start of a sentence to the sentence that these close."""
    moved, behind = 0, (len(text), len(text))
    for (start, end), following in pairwise(chain(spans, [behind])):
        begin = start + moved
        closing = _CLOSING.match(text[slice(*following)])
        if closing:
            yield begin, following[0] + len(closing[0].rstrip())
        elif text[begin:end]:
            yield begin, end
        moved = closing.end() if closing else 0


def _has_end(model: PunktModel, context: str) -> bool:
    """Whether a sentence ends within a few words: after any word except the last."""
    words = [_word(model, text) for line in context.split("\n") for text in _WORD.findall(line)]
    return any(_ends(model, word, following) for word, following in pairwise(words))


def _word(model: PunktModel, text: str) -> _PunktWord:
    """The classification of a word without the following word."""
    lower = text.lower()
    kind = _NUMBER if _IS_NUMBER.fullmatch(lower) else lower
    if text in _ENDS:
        return _PunktWord(text, kind, abbreviation=False, ends=True)
    if not text.endswith(".") or text.endswith(".."):
        return _PunktWord(text, kind, abbreviation=False, ends=False)
    stem = text[:-1].lower()
    is_abbreviation = stem in model.abbreviations or stem.split("-")[-1] in model.abbreviations
    return _PunktWord(text, kind, abbreviation=is_abbreviation, ends=not is_abbreviation)


def _ends(model: PunktModel, word: _PunktWord, following: _PunktWord) -> bool:
    """Whether a sentence ends between two words."""
    if not word.text.endswith("."):
        return word.ends
    kind = _without_stop(word.kind)
    next_kind = _without_stop(following.kind) if following.ends else following.kind
    if (kind, next_kind) in model.collocations:
        return False
    initial = _IS_INITIAL.fullmatch(word.text) is not None
    if (word.abbreviation or _IS_ELLIPSIS.fullmatch(word.text)) and not initial:
        starts = next_kind in model.starters and following.text[0].isupper()
        if starts or _begins(model, following, next_kind):
            return True
    if initial or kind == _NUMBER:
        begins = _begins(model, following, next_kind)
        seen_lower = model.spellings.get(next_kind, 0) & _LOWER
        unseen = begins is None and initial and following.text[0].isupper() and not seen_lower
        if begins is False or unseen:
            return False
    return word.ends


def _without_stop(kind: str) -> str:
    return kind[:-1] if len(kind) > 1 and kind.endswith(".") else kind


def _begins(model: PunktModel, word: _PunktWord, kind: str) -> bool | None:
    """Whether a word begins a sentence, by case; None if undecidable."""
    if word.text in ";:,.!?":
        return False
    seen = model.spellings.get(kind, 0)
    if word.text[0].isupper() and seen & _LOWER and not seen & _MIDDLE_UPPER:
        return True
    if word.text[0].islower() and (seen & _UPPER or not seen & _BEGIN_LOWER):
        return False
    return None
