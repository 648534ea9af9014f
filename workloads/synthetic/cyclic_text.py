"""A long text to cut prompts from, with the number of tokens of each word."""

from __future__ import annotations

import re
from array import array
from bisect import bisect_right
from itertools import accumulate, pairwise
from random import Random
from typing import TYPE_CHECKING, Final

from lazy_dataclasses import dataclass
from workloads.errors import PromptError
from workloads.synthetic.word_prompts import REQUEST, SENTENCE_WORDS, sentences

if TYPE_CHECKING:
    from workloads.synthetic.text_length import Measure

STORY_SENTENCES: Final = 3_000
"""Of the made-up text: about 35,000 tokens; a longer prompt goes through it again."""

_PIECE: Final = re.compile(r"\s*\S+")
_FAR: Final = 2_654_435_761
"""A prime: its multiples spread over the text."""


@dataclass(frozen=True, slots=True)
class CyclicText:
    """A cyclic text in pieces, each a word with the white space before."""

    text: str
    starts: array[int]  #: where in it each piece begins, and where the last one ends
    costs: array[int]  #: how many units all pieces before each have, and all of them
    stride: int  #: the number of pieces from one possible start of a cut to the next
    filler: str
    ending: str
    ending_units: int
    #: The units of each digit, first without and then with white space before it.
    figures: tuple[tuple[int, ...], tuple[int, ...]]

    def cut(self, start: int, units: int) -> str:
        """Cut a text of this many units, from a piece that `start` chooses; 0 or less is not text."""
        cuts, last = [], len(self.costs) - 1
        place = start * _FAR % (last // self.stride or 1) * self.stride
        while units > 0:
            end = bisect_right(self.costs, self.costs[place] + units, place) - 1
            cuts.append(self.text[self.starts[place] : self.starts[end]])
            units -= self.costs[end] - self.costs[place]
            if end < last:
                break
            place = 0
        return "".join(cuts) + self.filler * units

    def numbered(self, number: int, units: int, *, first: bool = True, salt: int = 0) -> str:
        """A text of this many units that begins with a number, figure by figure, and so like no other one."""
        opening = ""
        for place, figure in enumerate(map(int, str(number))):
            alone = first and not place
            cost = self.figures[0 if alone else 1][figure]
            if cost > units:
                break
            units -= cost
            opening += str(figure) if alone else f" {figure}"
        return opening + self.cut(number ^ salt, units)


def made_up_text(measure: Measure) -> CyclicText:
    """A cyclic text of made-up sentences, the same on every machine."""
    random = Random(0)  # noqa: S311 (reproducible text, not a secret)
    text = "".join(f" {sentence}" for sentence in sentences(random, STORY_SENTENCES))
    return cyclic_text(text, measure, "\n\n" + " ".join(REQUEST), SENTENCE_WORDS)


def cyclic_text(text: str, measure: Measure, ending: str = "", stride: int = 1) -> CyclicText:
    """Make a cyclic text of words; raise `PromptError` without words or tokens."""
    text, cost = f" {text.strip()}", measure.costs()
    starts = array("Q", (match.start() for match in _PIECE.finditer(text)))
    starts.append(len(text))
    pieces = (text[start:end] for start, end in pairwise(starts))
    costs = array("Q", accumulate(map(cost, pieces), initial=0)) if text.strip() else array("Q", [0])
    if not costs[-1]:
        raise PromptError("there are no words to cut prompts from")
    ending_units = cost(ending) if measure.count else len(ending.split())
    alone = tuple(measure.opening(str(figure)) for figure in range(10))
    spaced = tuple(cost(f" {figure}") for figure in range(10))
    return CyclicText(text, starts, costs, stride, measure.filler(), ending, ending_units, (alone, spaced))
