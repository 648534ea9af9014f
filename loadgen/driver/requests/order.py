"""Which prompt is next, and which endpoint gets the request."""

from __future__ import annotations

from bisect import bisect_right
from functools import lru_cache
from itertools import accumulate
from math import isqrt
from random import Random
from typing import TYPE_CHECKING, Final, Literal

ORDERS: Final = ("in-order", "shuffle", "random", "weighted")

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    Order = Callable[[int], int]
    """From the number of a request to its sample."""

    OrderName = str
else:
    OrderName = Literal[ORDERS]


_WORD: Final = 2**64 - 1
_ROUNDS: Final = 6


def order_of(name: str, samples: int, seed: int, weights: Sequence[float] | None = None) -> Order:
    """The order of a name.

    Args:
        name: One of `ORDERS`: one sample after the other; all of them in another order in every pass; drawn
            with replacement, each as often; or as often as its weight says.
        samples: How many there are.
        seed: The same seed gives the same order, on every platform.
        weights: For `weighted`: one for each sample, none below 0, and not all of them 0.
    """
    match name:
        case "shuffle":
            return _shuffled(samples, seed)
        case "random":
            return lambda number: _draw(seed, number) * samples >> 64
        case "weighted":
            return _weighted(weights or [1.0] * samples, seed)
        case _:
            return lambda number: number % samples


def _shuffled(samples: int, seed: int) -> Order:
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


def _weighted(weights: Sequence[float], seed: int) -> Order:
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


BALANCES: Final = ("round-robin", "least-in-flight")

if TYPE_CHECKING:
    BalanceName = str
else:
    BalanceName = Literal[BALANCES]


class Balance:
    """Chooses endpoints round robin, by request number: independent of the number of workers."""

    def __init__(self, endpoints: int) -> None:
        self._endpoints = endpoints

    def choose(self, request: int) -> int:
        """The endpoint of a request, by number in the phase."""
        return request % self._endpoints

    def began(self, endpoint: int) -> None:
        """Note a request in flight to an endpoint."""

    def ended(self, endpoint: int) -> None:
        """Note the end of a request."""


class LeastInFlight(Balance):
    """Where the fewest requests of this worker are under way; of several such endpoints the next in turn."""

    def __init__(self, endpoints: int) -> None:
        super().__init__(endpoints)
        self._in_flight = [0] * endpoints

    def choose(self, request: int) -> int:
        """The endpoint of a request, by number in the phase."""
        in_flight, endpoints = self._in_flight, self._endpoints
        return min(
            range(endpoints), key=lambda endpoint: (in_flight[endpoint], (endpoint - request) % endpoints)
        )

    def began(self, endpoint: int) -> None:
        """Note a request in flight to an endpoint."""
        self._in_flight[endpoint] += 1

    def ended(self, endpoint: int) -> None:
        """Note the end of a request."""
        self._in_flight[endpoint] -= 1


def balance_of(name: str, endpoints: int) -> Balance:
    """The balance of a name."""
    return LeastInFlight(endpoints) if name == "least-in-flight" else Balance(endpoints)
