"""Which prompt is next: the order of samples; and the names of both choices of a plan."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal

ORDERS: Final = ("in-order", "shuffle", "random", "weighted")

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    Order = Callable[[int], int]
    """From the number of a request to its sample."""

    OrderName = str
else:
    OrderName = Literal[ORDERS]

BALANCES: Final = ("round-robin", "least-in-flight")

if TYPE_CHECKING:
    BalanceName = str
else:
    BalanceName = Literal[BALANCES]


def order_of(name: str, samples: int, seed: int, weights: Sequence[float] | None = None) -> Order:
    """The order of a name.

    Args:
        name: One of `ORDERS`: one sample after the other; all of them in another order in every pass; drawn
            with replacement, each as often; or as often as its weight says.
        samples: How many there are.
        seed: The same seed gives the same order, on every platform.
        weights: For `weighted`: one for each sample, none below 0, and not all of them 0.
    """
    if name == "in-order":
        return lambda number: number % samples
    from loadgen.driver.requests.drawn_order import drawn, shuffled, weighted

    if name == "shuffle":
        return shuffled(samples, seed)
    return drawn(samples, seed) if name == "random" else weighted(weights or [1.0] * samples, seed)
