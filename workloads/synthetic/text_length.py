"""The length of texts in tokens: counted by a tokenizer and made exact, or estimated from words."""

from __future__ import annotations

from array import array
from collections.abc import Callable
from functools import cache, partial
from typing import TYPE_CHECKING, Any, Final, Protocol

from lazy_dataclasses import dataclass, field
from workloads.errors import PromptError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


TokenCount = Callable[[str], int]
"""How many tokens a text has, without those that a tokenizer puts around any text."""

TOKENS_PER_WORD: Final = 1.3
"""Without a tokenizer: what English words take on average with the usual tokenizers."""

_BEFORE: Final = "the"
_FILLERS: Final = (" and", " the", " of", " to", " in", " a", " I", " .", ".", ",", "\n")
_TIMES: Final = 8


def words_of(tokens: int) -> int:
    """About how many words this many tokens are, at least one."""
    return max(1, round(tokens / TOKENS_PER_WORD))


@dataclass(frozen=True, slots=True)
class Measure:
    """The unit in which texts are cut: a token, or without a tokenizer a word."""

    count: TokenCount | None = None  #: counts tokens; None without a tokenizer

    def units(self, tokens: int) -> int:
        """How many units this many tokens are, at least one."""
        return tokens if self.count else words_of(tokens)

    def all_units(self, tokens: array[int]) -> array[int]:
        """The units of many lengths."""
        return tokens if self.count else array("I", map(words_of, tokens))

    def costs(self) -> Callable[[str], int]:
        """A function that counts the units of a piece: a word with the white space before.

        A piece costs what it adds to a text. Tokenizers cut texts at white space before anything else,
        so costs add up; where they do not quite, texts are corrected (`counted`).
        """
        count = self.count
        if count is None:
            return lambda _: 1
        alone = count(_BEFORE)
        return cache(lambda piece: max(0, count(_BEFORE + piece) - alone))

    def opening(self, text: str) -> int:
        """The units of a text's first word."""
        return self.count(text) if self.count else 1

    def filler(self) -> str:
        """A piece of one unit for filling up; raise `PromptError` where this tokenizer has none."""
        count = self.count
        if count is None:
            return _FILLERS[0]
        alone = count(_BEFORE)
        for piece in _FILLERS:
            if count(_BEFORE + _TIMES * piece) - alone == _TIMES:
                return piece
        raise PromptError(
            "the tokenizer has no short word of one token, so that no exact number of tokens can be made; "
            "is it a tokenizer for English text? Leave it out, and lengths are approximate"
        )


MOST_COUNTED: Final = 20_000_000
"""Texts are counted up to this many tokens together, which takes about half a minute; see `Counted`."""

_TRIES: Final = 20


class Texts(Protocol):
    """A maker of texts for questions: pure, and small when pickled."""

    def text(self, message: int, less: int = 0, fillers: int = 0) -> str:
        """The text of a message."""


@dataclass(frozen=True, slots=True)
class Counted:
    """The result of counting."""

    messages: int = 0
    #: What the counted ones need to have exactly their tokens, see `MadeSamples`.
    corrections: Mapping[int, tuple[int, int]] = field(default_factory=dict)
    off_by: int = 0  #: the most tokens by which one of the counted was off before it was corrected

    def facts(self) -> dict[str, Any]:
        """For the log."""
        return {"messages_counted": self.messages, "off_by_at_most": self.off_by}


def counted(
    texts: Texts, tokens: Sequence[int], count: TokenCount, most_counted: int = MOST_COUNTED
) -> Counted:
    """Count texts until `most_counted` are, and correct those of a wrong length, or raise `PromptError`."""
    corrections: dict[int, tuple[int, int]] = {}
    messages = off_by = total = 0
    for message, wanted in enumerate(tokens):
        if (total := total + wanted) > most_counted and messages:
            break
        messages += 1
        if missing := wanted - count(texts.text(message)):
            off_by = max(off_by, abs(missing))
            corrections[message] = _corrected(partial(_tokens, texts, count, message), wanted, missing)
    return Counted(messages, corrections, off_by)


def _tokens(texts: Texts, count: TokenCount, message: int, less: int, fillers: int) -> int:
    return count(texts.text(message, less, fillers))


def _corrected(count: Callable[[int, int], int], wanted: int, missing: int) -> tuple[int, int]:
    """The correction of a text to exactly `wanted` tokens, given the missing tokens.

    What is too short is filled up. Where a filler is not one token after just this word, words are left out.
    """
    less = max(0, -missing)
    for _ in range(_TRIES):
        fillers = 0
        for _ in range(_TRIES):
            if not (missing := wanted - count(less, fillers)):
                return less, fillers
            if (fillers := fillers + missing) <= 0:
                break
        less += 1
    raise PromptError(
        f"a text of exactly {wanted} tokens cannot be made with this tokenizer (off by {abs(missing)}); "
        "leave the tokenizer out, and lengths are approximate"
    )
