"""Numbers that do not repeat, to begin prompts with."""

from __future__ import annotations

from dataclasses import dataclass
from math import gcd
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from random import Random


@dataclass(frozen=True, slots=True)
class ShuffledRange:
    """A shuffle of the whole numbers from `least` on, of which none need be kept.

    Attributes:
        step: How far it is from one to the next; it and `many` have no common divisor.
    """

    least: int
    many: int
    first: int
    step: int

    def __getitem__(self, place: int) -> int:
        """The number at a place, from 0 to `many` - 1."""
        return self.least + (self.first + place * self.step) % self.many


def shuffled(count: int, random: Random) -> ShuffledRange:
    """Distinct numbers for prompts, of at least four digits."""
    least, many = 1_000, 9_000 + 10 * count
    steps = (random.randrange(many // 3, many) for _ in iter(int, 1))
    step = next(step for step in steps if gcd(step, many) == 1)
    return ShuffledRange(least, many, random.randrange(many), step)
