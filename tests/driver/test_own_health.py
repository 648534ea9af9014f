"""The client's readings of its own event loop."""

from __future__ import annotations

import pytest

from loadgen.driver.own_health import FEWEST_TICKS, loop_lag


@pytest.mark.parametrize(
    ("lags_ms", "lag"),
    [
        ([30.0], {"loop_lag_max_ms": 30.0}),
        ([30.0] * (FEWEST_TICKS - 1), {"loop_lag_max_ms": 30.0}),
        ([*map(float, range(FEWEST_TICKS))], {"loop_lag_p50_ms": 5.0, "loop_lag_max_ms": 9.0}),
    ],
)
def test_a_median_needs_several_ticks(lags_ms: list[float], lag: dict[str, float]) -> None:
    """In a run that ends after a tick or two, one late tick does not stand for all."""
    assert loop_lag(lags_ms) == lag
