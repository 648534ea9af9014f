"""The smallest number that is enough, where every larger one is too."""

from __future__ import annotations

from bisect import bisect_left
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable

MOST_SAMPLES: Final = 10**8
"""More are not worth a remedy: no larger number of needed samples is reported."""


def smallest(enough: Callable[[int], bool], start: int = 1, limit: int | None = None) -> int | None:
    """The smallest whole number from `start` on that is enough: by doubling, then halving.

    Args:
        enough: False up to some number and True from it on.
        start: The first that may do, at least 1.
        limit: The last that is tried; None where some number is certain to do.

    Returns:
        None where not even `limit` is enough.
    """
    low, high = start, start
    while not enough(high):
        if limit is not None and high >= limit:
            return None
        low, high = high + 1, high * 2 if limit is None else min(high * 2, limit)
    return low + bisect_left(range(low, high), x=True, key=enough)
