"""Equal spans of time for confidence in a figure, as many as the number of values allows.

Requests of one run share the state of the server, and are not independent samples of it; means over spans
that are long enough nearly are (G. S. Fishman, "Grouping observations in digital simulation", Management
Science 24, 1978).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

FINEST: Final = 32
"""The number of the finest spans; a power of two, so that neighbours can be merged."""

COARSEST: Final = 4
"""The most of the finest that become one where the dependence of spans is estimated from them."""

FEWEST: Final = 5
"""Values in each span at least."""


def group_size(counts: Sequence[int]) -> int | None:
    """How many neighbouring spans, of the finest, have to become one; None where not two would be left.

    Args:
        counts: How many values each of the finest spans has.
    """
    size = 1
    while size < FINEST:
        if min(map(sum, grouped(counts, size))) >= FEWEST:
            return size
        size *= 2
    return None


def grouped(spans: Sequence[Any], size: int) -> list[Sequence[Any]]:
    """Spans, with groups of `size` neighbours merged."""
    return [spans[first : first + size] for first in range(0, len(spans), size)]


def merged_size(counts: Sequence[int]) -> int | None:
    """How many of the finest spans become one, for `FEWEST` values in each on average as far as 8 are left.

    None where these have fewer than two values on average.
    """
    size = 1
    while size < COARSEST and sum(counts) * size < FEWEST * FINEST:
        size *= 2
    return size if sum(counts) * size >= 2 * FINEST else None


def span_of(moment: str, length_ns: int, spans: int = FINEST) -> str:
    """SQL for the number of a moment's span, from 0, counted from the start of the first span."""
    return f"least({moment} * {spans} // {max(length_ns, 1)}, {spans - 1})"
