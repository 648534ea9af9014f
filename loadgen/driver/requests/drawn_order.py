"""Orders of samples that are drawn from a seed: shuffled, random and weighted."""

from __future__ import annotations

from bisect import bisect_right
from functools import lru_cache
from itertools import accumulate
from math import isqrt
from random import Random
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    Order = Callable[[int], int]

_WORD: Final = 2**64 - 1
_ROUNDS: Final = 6


def shuffled(samples: int, seed: int) -> Order:
    """A separate permutation for every pass.

    None is ever written down, for that would hold up a worker whenever a pass begins. The samples lie in a
    square instead, and each round shifts every row by its own amount and then swaps rows and columns
    (a Feistel network): whatever the amounts are, no two land on each other. What lands
    outside the samples goes on until that is over.
    """
    side = isqrt(samples - 1) + 1

    @lru_cache(maxsize=4)
    def rounds(pass_number: int) -> list[list[int]]:
        draw = Random(f"{seed}/{pass_number}")  # noqa: S311 (no secret)
        return [[draw.randrange(side) for _ in range(side)] for _ in range(_ROUNDS)]

    def order(number: int) -> int:
        pass_number, place = divmod(number, samples)
        # Who goes back from 0 goes through the first pass from its end, and meets what is measured late.
        shifts = rounds(max(0, pass_number))
        while True:
            row, column = divmod(place, side)
            for shift in shifts:
                row, column = (column + shift[row]) % side, row
            place = row * side + column
            if place < samples:
                return place

    return order


def drawn(samples: int, seed: int) -> Order:
    """Samples drawn with replacement, each as often."""
    return lambda number: _draw(seed, number) * samples >> 64


def weighted(weights: Sequence[float], seed: int) -> Order:
    """Samples drawn with replacement, by weight."""
    reach = list(accumulate(weights))
    whole, last = reach[-1], max(place for place, weight in enumerate(weights) if weight > 0)
    # A draw just below 1 may be rounded up to the whole.
    return lambda number: min(bisect_right(reach, _draw(seed, number) / 2**64 * whole), last)


def _draw(seed: int, number: int) -> int:
    """A number of 64 bits that looks random: SplitMix64 (Steele, Lea, Flood 2014), entered anywhere.

    https://doi.org/10.1145/2714064.2660195
    """
    return _mix(_mix(seed & _WORD) + number * 0x9E3779B97F4A7C15 & _WORD)


def _mix(word: int) -> int:
    word = (word ^ word >> 30) * 0xBF58476D1CE4E5B9 & _WORD
    word = (word ^ word >> 27) * 0x94D049BB133111EB & _WORD
    return word ^ word >> 31
