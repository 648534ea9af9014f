"""Adjusted p-values of many metrics, so that all together give false alarms no more often than one may.

S. Holm, "A simple sequentially rejective multiple test procedure", Scandinavian Journal of Statistics 6,
1979. It holds however the metrics depend on each other. Where they move together, as latencies do, it is
cautious.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


def adjusted(chances: Sequence[float]) -> list[float]:
    """The adjusted p-values of a family, each to be compared with alpha, in the given order.

    The smallest of m is multiplied by m, the next by m - 1, and so on; none becomes smaller than one before
    it.
    """
    order = sorted(range(len(chances)), key=chances.__getitem__)
    least, made = 0.0, [1.0] * len(chances)
    for place, index in enumerate(order):
        least = max(least, min(1.0, (len(chances) - place) * chances[index]))
        made[index] = least
    return made
