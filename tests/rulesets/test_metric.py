"""The four metrics of the metrics specification."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rulesets import TPOT, TTFT, QueryLatency, TargetError, Throughput

LATENCIES = (TTFT, TPOT, QueryLatency)
positive = st.floats(min_value=1e-6, max_value=1e9)


@pytest.mark.parametrize(
    ("measurement", "valid"),
    [(9.99, False), (10.0, True), (11.2, True), (1e9, True), (0.0, False), (-1.0, False)],
)
def test_throughput_is_valid_from_its_target_up(measurement: float, *, valid: bool) -> None:
    """A throughput meets its target at and above it, however far above."""
    assert Throughput(10.0).is_valid(measurement) is valid


@pytest.mark.parametrize("metric", LATENCIES)
@pytest.mark.parametrize(
    ("measurement", "valid"),
    [(500.01, False), (500.0, True), (1.0, True), (0.0, True), (-1.0, False)],
)
def test_latency_is_valid_up_to_its_target(metric: type[TTFT], measurement: float, *, valid: bool) -> None:
    """A latency meets its target at and below it, and a negative time is no latency."""
    assert metric(500.0).is_valid(measurement) is valid


@pytest.mark.parametrize("metric", [Throughput, *LATENCIES])
@pytest.mark.parametrize("measurement", [None, math.nan, math.inf, -math.inf])
def test_what_was_not_measured_is_never_valid(metric: type[TTFT], measurement: float | None) -> None:
    """None, NaN and the infinities meet no target."""
    assert not metric(10.0).is_valid(measurement)


@pytest.mark.parametrize("metric", [Throughput, *LATENCIES])
@pytest.mark.parametrize("target", [0, -1.0, math.nan, math.inf, True, "500"])
def test_a_target_is_a_positive_finite_number(metric: type[TTFT], target: float) -> None:
    """Any other target is refused, and the message shows it."""
    with pytest.raises(TargetError, match=r"must be a positive, finite number of .*, not ") as refused:
        metric(target)
    assert repr(target) in str(refused.value)


def test_query_latency_is_the_inverse_of_queries_a_second() -> None:
    """20 queries/s, one after the other, leave 50 ms for each."""
    metric = QueryLatency(target_qps=20)
    assert metric.target == 50.0
    assert metric == QueryLatency(target_latency_ms=50)
    assert repr(metric) == "QueryLatency(target=50.0)"


@pytest.mark.parametrize("arguments", [{}, {"target_latency_ms": 50.0, "target_qps": 20.0}])
def test_query_latency_takes_one_of_two_targets(arguments: dict[str, float]) -> None:
    """Neither and both are refused."""
    with pytest.raises(TargetError, match="either target_latency_ms or target_qps"):
        QueryLatency(**arguments)


def test_query_latency_names_the_unit_of_a_bad_rate() -> None:
    """A rate that has no inverse is refused as a rate."""
    with pytest.raises(TargetError, match="finite number of queries/s, not 0"):
        QueryLatency(target_qps=0)


@given(target=positive, measurement=positive, factor=st.floats(min_value=1, max_value=1e6))
def test_faster_is_never_less_valid(target: float, measurement: float, factor: float) -> None:
    """Whatever is valid stays so when the server is faster by any factor."""
    throughput, latency = Throughput(target), TTFT(target)
    assert throughput.is_valid(measurement * factor) >= throughput.is_valid(measurement)
    assert latency.is_valid(measurement / factor) >= latency.is_valid(measurement)
