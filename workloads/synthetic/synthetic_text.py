"""Questions made on demand: a million questions take the memory of their lengths."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import gcd
from typing import TYPE_CHECKING, overload

from lazy_dataclasses import dataclass, field, replace
from workloads.conversation_sample import ConversationSample, FollowUp
from workloads.sample import Sample

if TYPE_CHECKING:
    from random import Random

    from workloads.synthetic.cyclic_text import CyclicText
    from workloads.synthetic.text_length import Texts


@dataclass(frozen=True, slots=True)
class NumberedTexts:
    """Texts, each with a unique number at the beginning."""

    source: CyclicText
    numbers: ShuffledRange
    units: Sequence[int]
    ends: bool = True  #: whether they end with the source's ending, unless that would be a large part of them
    salt: int = 0

    def text(self, message: int, less: int = 0, fillers: int = 0) -> str:
        """See `Texts`."""
        source, units = self.source, self.units[message]
        ends = self.ends and units > 4 * source.ending_units
        units -= less + ends * source.ending_units
        text = source.numbered(self.numbers[message], units, salt=self.salt)
        # Only a text that is too short for a figure begins with white space.
        return (text + fillers * source.filler + ends * source.ending).lstrip()


@dataclass(frozen=True, slots=True)
class MadeSamples(Sequence[Sample]):
    """Questions, each made at every access; small when pickled."""

    texts: Texts
    #: Question i has the messages `firsts[i]` to `firsts[i + 1] - 1`: the first is the question, the others
    #: are what its user says after each answer.
    firsts: Sequence[int]
    #: The most output tokens of each message's answer; empty where nothing is said about them.
    outputs: Sequence[int] = ()
    prefixes: Sequence[str] = ()  #: system prompts, in turns; empty for none
    #: What messages need to have as many tokens as they should: see `Texts`.
    corrections: Mapping[int, tuple[int, int]] = field(default_factory=dict)
    places: Sequence[int] = ()

    def __len__(self) -> int:
        return len(self.places)

    @overload
    def __getitem__(self, place: int) -> Sample: ...
    @overload
    def __getitem__(self, place: slice) -> MadeSamples: ...
    def __getitem__(self, place: int | slice) -> Sample | MadeSamples:
        if isinstance(place, slice):
            return replace(self, places=self.places[place])
        index = self.places[place]
        first, end = self.firsts[index], self.firsts[index + 1]
        prefix = self.prefixes[index % len(self.prefixes)] if self.prefixes else None
        text, max_tokens = self.text(first), self._max_tokens(first)
        later = tuple(map(self._follow_up, range(first + 1, end)))
        if not later:
            return Sample(index, text, prefix, max_tokens=max_tokens)
        return ConversationSample(index, text, prefix, max_tokens=max_tokens, follow_ups=later)

    def examples(self) -> tuple[Sample, ...]:
        """One question, and one with the most turns: other questions differ only in texts."""
        if self.firsts[-1] == len(self.firsts) - 1:
            # As many messages as questions: none has further turns, and none of the millions is looked at.
            return (self[0],)
        longest = max(range(len(self)), key=self._turns)
        return (self[0], self[longest])

    def text(self, message: int) -> str:
        """The text of a message."""
        return self.texts.text(message, *self.corrections.get(message, ()))

    def _turns(self, place: int) -> int:
        index = self.places[place]
        return self.firsts[index + 1] - self.firsts[index]

    def _follow_up(self, message: int) -> FollowUp:
        turn = {"role": "user", "content": self.text(message)}
        return FollowUp((turn,), max_tokens=self._max_tokens(message))

    def _max_tokens(self, message: int) -> int | None:
        return self.outputs[message] if self.outputs else None


@dataclass(frozen=True, slots=True)
class ShuffledRange:
    """A shuffle of the whole numbers from `least` on, of which none need be kept."""

    least: int
    many: int
    first: int
    step: int  #: how far it is from one to the next; it and `many` have no common divisor

    def __getitem__(self, place: int) -> int:
        """The number at a place, from 0 to `many` - 1."""
        return self.least + (self.first + place * self.step) % self.many


def shuffled(count: int, random: Random) -> ShuffledRange:
    """Distinct numbers for prompts, of at least four digits."""
    least, many = 1_000, 9_000 + 10 * count
    steps = (random.randrange(many // 3, many) for _ in iter(int, 1))
    step = next(step for step in steps if gcd(step, many) == 1)
    return ShuffledRange(least, many, random.randrange(many), step)
