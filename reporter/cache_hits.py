"""The share of prompt tokens that came from the server's prefix cache: runs compare where it is alike."""

from __future__ import annotations

from typing import Final

ALIKE_PCT: Final = 5.0
"""Percentage points, up to which two shares are alike."""

REMEDY: Final = "give --salt, or restart the server before each run"


def cached_pct(cached: object, inputs: object, prefix_hit_pct: object) -> float | None:
    """Return the share in percent; None where neither responses nor the server's metrics have it.

    Args:
        cached: Cached prompt tokens, by the responses' usage.
        inputs: Prompt tokens.
        prefix_hit_pct: The share by the server's metrics.
    """
    if isinstance(cached, int) and isinstance(inputs, int) and inputs > 0:
        return round(100.0 * cached / inputs, 1)
    return round(float(prefix_hit_pct), 1) if isinstance(prefix_hit_pct, int | float) else None
