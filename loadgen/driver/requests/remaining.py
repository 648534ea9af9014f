"""The remaining requests of an interrupted session."""

from __future__ import annotations

from array import array
from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from loadgen.driver.requests.order import Order


def remaining(count: int, first: int, order: Order, settled: Mapping[int, int]) -> array[int]:
    """The numbers of the measured requests, or conversations, still to be asked, ascending.

    How many of them asked a sample, and not which, decides what is left of it: those that come first in the
    plan are taken for the ones that have their result.

    Args:
        count: How many the session was to measure in all.
        first: The number in the session that the first of them has.
        order: Which number asks which sample.
        settled: For samples by number, how many that asked them have their result.
    """
    settled_yet = Counter(settled)
    left = array("q")
    for request in range(count):
        sample = order(first + request)
        if settled_yet[sample] > 0:
            settled_yet[sample] -= 1
        else:
            left.append(request)
    return left
