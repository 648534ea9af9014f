"""What is left to ask of a session that was interrupted."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping


def remaining(requests: int, first_sample: int, samples: int, settled: Mapping[int, int]) -> list[int]:
    """The samples that are still to be asked, in the order of the plan.

    Request k of a session asks sample `first_sample + k`, from the start again when the samples run out; how
    many of its requests asked a sample, and not which, decides what is left of it.

    Args:
        requests: How many the session was to ask in all.
        first_sample: What its first request asked.
        samples: How many samples there are.
        settled: For samples by number, how many requests that asked them have their result.
    """
    settled_yet = Counter(settled)
    left = []
    for number in range(first_sample, first_sample + requests):
        sample = number % samples
        if settled_yet[sample] > 0:
            settled_yet[sample] -= 1
        else:
            left.append(sample)
    return left
