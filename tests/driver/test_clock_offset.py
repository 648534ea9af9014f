"""The offset between two clocks: always within its uncertainty, whatever the network does."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from loadgen.plugins.ray.node_handle import ClockExchange, reading_of
from recorder.shards import MAX_DRIFT_PPM

MS = 1_000_000
WAYS = st.tuples(st.integers(0, 50 * MS), st.integers(0, 50 * MS), st.integers(0, 200 * MS))


@given(
    offset_ns=st.integers(-(10**17), 10**17),
    drift_ppm=st.floats(-MAX_DRIFT_PPM, MAX_DRIFT_PPM),
    ways=st.lists(WAYS, min_size=1, max_size=20),
)
def test_the_truth_is_within_the_uncertainty(
    offset_ns: int, drift_ppm: float, ways: list[tuple[int, int, int]]
) -> None:
    """For any delays of either way, and clocks that drift apart; and no wider than the best exchange."""
    start_ns = now_ns = 5_000_000_000

    def true_offset_ns(at_ns: int) -> float:
        return offset_ns + (at_ns - start_ns) * drift_ppm / 1e6

    exchanges = []
    for there_ns, back_ns, pause_ns in ways:
        arrived_ns = now_ns + there_ns
        node_ns = arrived_ns - round(true_offset_ns(arrived_ns))
        exchanges.append(ClockExchange(now_ns, node_ns, arrived_ns + back_ns))
        now_ns = arrived_ns + back_ns + pause_ns
    reading = reading_of("node-0", exchanges)
    assert abs(reading.offset_ns - true_offset_ns(reading.at_ns)) <= reading.uncertainty_ns
    assert reading.uncertainty_ns <= reading.round_trip_ns * (1 + MAX_DRIFT_PPM / 1e6) / 2 + 2_000


def test_several_exchanges_bound_closer_than_the_best() -> None:
    """One is quick there and another is quick back."""
    slow_back, slow_there = (
        ClockExchange(0, 1_000, 9_000_000),
        ClockExchange(10_000_000, 19_000_000, 19_001_000),
    )
    assert reading_of("node-0", [slow_back, slow_there]).uncertainty_ns < 10_000
