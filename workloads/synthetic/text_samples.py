"""Questions that consist of texts only."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import overload

from workloads.sample import Sample


@dataclass(frozen=True, slots=True)
class TextSamples(Sequence[Sample]):
    """A sequence of questions, each made at access.

    Attributes:
        texts: Those of all questions.
        places: Which of the questions these are.
    """

    texts: Sequence[str]
    places: Sequence[int]

    def __len__(self) -> int:
        return len(self.places)

    @overload
    def __getitem__(self, place: int) -> Sample: ...
    @overload
    def __getitem__(self, place: slice) -> TextSamples: ...
    def __getitem__(self, place: int | slice) -> Sample | TextSamples:
        if isinstance(place, slice):
            return TextSamples(self.texts, self.places[place])
        index = self.places[place]
        return Sample(index, self.texts[index])

    def examples(self) -> tuple[Sample, ...]:
        """One question: other questions differ only in texts."""
        return (self[0],)

    def alone(self) -> TextSamples:
        """The questions without follow-up turns."""
        return TextSamples(self.texts[: max(self.places, default=-1) + 1], self.places)

    def made(self) -> tuple[Sample, ...]:
        """All questions, made once, for repeated access."""
        return tuple(map(Sample, self.places, map(self.texts.__getitem__, self.places)))
