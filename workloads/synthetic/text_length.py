"""The length of a text in tokens: counted by a tokenizer, or estimated from words without one."""

from __future__ import annotations

from array import array
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Final

from workloads.errors import PromptError

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
    """The unit in which texts are cut: a token, or without a tokenizer a word.

    Attributes:
        count: Counts tokens; None where there is no tokenizer.
    """

    count: TokenCount | None = None

    def units(self, tokens: int) -> int:
        """How many units this many tokens are, at least one."""
        return tokens if self.count else words_of(tokens)

    def all_units(self, tokens: array[int]) -> array[int]:
        """The units of many lengths."""
        return tokens if self.count else array("I", map(words_of, tokens))

    def costs(self) -> Callable[[str], int]:
        """A function that counts the units of a piece: a word with the white space before.

        A piece costs what it adds to a text. Tokenizers cut texts at white space before anything else,
        so costs add up; where they do not quite, texts are corrected (`workloads.synthetic.exact`).
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
