"""How arrivals are spread: processes of unit rate, that is positions whose distances have a mean of 1.

A position is how many requests are expected until an arrival. Each sequence goes on without end, never
decreases, and depends on nothing but its arguments: the same seed gives the same one on every platform.
"""

from __future__ import annotations

import random
from functools import partial
from itertools import accumulate, count
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


def constant() -> Iterator[int]:
    """Equal distances, from 0 on: integers, so that nothing adds up."""
    return count()


def poisson(seed: int) -> Iterator[float]:
    """A Poisson process: exponential distances."""
    return _summed(partial(random.Random(seed).expovariate, 1.0))  # noqa: S311 (a schedule, not a secret)


def gamma(seed: int, burstiness: float) -> Iterator[float]:
    """Gamma-distributed distances: with a shape below 1 burstier than a Poisson process, above more even.

    Args:
        seed: Of the sequence.
        burstiness: The shape, above 0; the coefficient of variation of the distances is 1 / √shape.
    """
    draw = random.Random(seed).gammavariate  # noqa: S311 (a schedule, not a secret)
    return _summed(partial(draw, burstiness, 1.0 / burstiness))


def uniform(seed: int) -> Iterator[float]:
    """Distances evenly distributed from 0 to 2."""
    return _summed(partial(random.Random(seed).uniform, 0.0, 2.0))  # noqa: S311 (a schedule, not a secret)


def _summed(draw: Callable[[], float]) -> Iterator[float]:
    # No draw is None, so that this goes on for ever, without a line of Python for each.
    return accumulate(iter(draw, None))
