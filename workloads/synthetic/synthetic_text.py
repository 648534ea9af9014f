"""Questions made on demand: a million questions take the memory of their lengths."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Protocol, overload

from workloads.sample import FollowUp, Sample

if TYPE_CHECKING:
    from workloads.synthetic.numbers import ShuffledRange
    from workloads.synthetic.tape import Tape


class Texts(Protocol):
    """A maker of texts for questions: pure, and small when pickled."""

    def text(self, message: int, less: int = 0, fillers: int = 0) -> str:
        """The text of a message."""
        ...


@dataclass(frozen=True, slots=True)
class NumberedTexts:
    """Texts, each with a unique number at the beginning.

    Attributes:
        ends: Whether they end with the tape's ending, unless that would be a large part of them.
    """

    tape: Tape
    numbers: ShuffledRange
    units: Sequence[int]
    ends: bool = True
    salt: int = 0

    def text(self, message: int, less: int = 0, fillers: int = 0) -> str:
        """See `Texts`."""
        tape, units = self.tape, self.units[message]
        ends = self.ends and units > 4 * tape.ending_units
        units -= less + ends * tape.ending_units
        text = tape.numbered(self.numbers[message], units, salt=self.salt)
        # Only a text that is too short for a figure begins with white space.
        return (text + fillers * tape.filler + ends * tape.ending).lstrip()


@dataclass(frozen=True, slots=True)
class MadeSamples(Sequence[Sample]):
    """Questions, each made at every access; all of them pickle small.

    Attributes:
        firsts: Question i has the messages `firsts[i]` to `firsts[i + 1] - 1`: the first is the question, the
            others are what its user says after each answer.
        outputs: The most output tokens of each message's answer; empty where nothing is said about them.
        prefixes: System prompts, in turns; empty for none.
        corrections: What messages need to have as many tokens as they should: see `Texts`.
    """

    texts: Texts
    firsts: Sequence[int]
    outputs: Sequence[int] = ()
    prefixes: tuple[str, ...] = ()
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
        return Sample(
            index,
            self.text(first),
            self.prefixes[index % len(self.prefixes)] if self.prefixes else None,
            max_tokens=self._max_tokens(first),
            follow_ups=tuple(map(self._follow_up, range(first + 1, end))),
        )

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
