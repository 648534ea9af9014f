"""The four metrics of the metrics specification."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rulesets import (
    TPOT,
    TTFT,
    Metric,
    QueryLatency,
    ReportEvidence,
    TargetError,
    Throughput,
    evaluate,
    of_expressions,
    of_metrics,
    parse,
    reported_metrics,
    unparse,
)
from rulesets.metric import metric_of
from rulesets.quantity import COMPARE
from rulesets.target import meets

LATENCIES = (TTFT, TPOT, QueryLatency)
positive = st.floats(min_value=1e-6, max_value=1e9)


@pytest.mark.parametrize(
    ("measurement", "valid"),
    [(9.99, False), (10.0, True), (11.2, True), (1e9, True), (0.0, False), (-1.0, False)],
)
def test_throughput_is_valid_from_its_target_up(measurement: float, *, valid: bool) -> None:
    """A throughput meets its target at and above it, however far above."""
    assert Throughput(10.0).is_valid(measurement) is valid


@pytest.mark.parametrize(
    ("measurement", "close"),
    [
        (8.99, False),
        (9.0, True),
        (11.1, True),
        (11.2, False),
        (math.inf, False),
        (math.nan, False),
        (None, False),
    ],
)
def test_the_tolerance_of_the_specification(measurement: float | None, *, close: bool) -> None:
    """A measurement is close within a tenth of the greater of measurement and target."""
    assert Throughput(10.0).is_close(measurement) is close


@pytest.mark.parametrize("metric", LATENCIES)
@pytest.mark.parametrize(
    ("measurement", "valid"),
    [(500.01, False), (500.0, True), (1.0, True), (0.0, True), (-1.0, False)],
)
def test_latency_is_valid_up_to_its_target(metric: type[TTFT], measurement: float, *, valid: bool) -> None:
    """A latency meets its target at and below it, and a negative time is not a latency."""
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
    assert repr(metric) == "QueryLatency(target=50.0, strict=False)"


def test_each_metric_has_the_keyword_of_the_specification() -> None:
    """And one base, with the target."""
    metrics: list[Metric] = [
        Throughput(target_qps=10),
        QueryLatency(target_latency_ms=10),
        TTFT(max_ttft_latency_ms=10),
        TPOT(max_tpot_latency_ms=10),
    ]
    assert [metric.target for metric in metrics] == [10, 10, 10, 10]
    assert all(isinstance(metric, Metric) for metric in metrics)
    assert len(set(metrics)) == 4


@pytest.mark.parametrize("metric", [Throughput, *LATENCIES])
def test_a_strict_target_is_not_met_by_itself(metric: type[TTFT]) -> None:
    """As the checker of MLPerf asks of TTFT and TPOT."""
    assert metric(10.0).is_valid(10.0)
    assert not metric(10.0, strict=True).is_valid(10.0)


@given(
    st.sampled_from(["ttft:p(99)", "tpot:mean", "latency:p(50)", "qps", "output_tokens:mean", "itl:max"]),
    st.booleans(),
    positive,
    positive,
)
def test_a_target_of_a_ruleset_is_met_as_its_metric_says(
    figure: str,
    strict: bool,  # noqa: FBT001 (drawn)
    bound: float,
    value: float,
) -> None:
    """Whatever the metric: the operator between the figure and the bound decides."""
    op = (">" if figure == "qps" else "<") + ("" if strict else "=")
    unit = "" if figure in {"qps", "output_tokens:mean"} else "ms"
    target = parse(f"{figure}{op}{bound:.6f}{unit}")
    metric = metric_of(target)
    assert (metric is None) is figure.startswith(("output_tokens", "itl"))
    for observed in (value, target.bound, math.inf):
        is_met = meets(target, observed)
        assert is_met is (observed < math.inf and COMPARE[op](observed, target.bound))
        assert metric is None or metric.is_valid(observed) is is_met


def test_a_change_is_not_a_metric() -> None:
    """A change from a baseline is bounded as a share, which may be negative."""
    assert metric_of(parse("qps:delta>-3%@mw0.05")) is None


def test_a_verdict_on_metrics() -> None:
    """A metric is a rule of the verdict; a metric that was not measured fails."""
    run = ReportEvidence({"ttft_ms": {"count": 9, "p99": 400.0}, "validity": {"valid": True}})
    rules = of_metrics([TTFT(500), TPOT(50)])
    statuses = {row.id: row.status for row in evaluate(rules, run).rows}
    assert statuses == {"ttft:p(99)<=500ms": "PASS", "tpot:p(99)<=50ms": "FAIL"}


def test_the_metrics_that_a_ruleset_reports() -> None:
    """Those of its targets that are one of the four, strict where the operator is."""
    metrics = [Throughput(10), TTFT(500), TPOT(50, strict=True)]
    assert reported_metrics(of_metrics(metrics)) == tuple(metrics)
    rules = of_expressions(["ttft:p(99)<=500ms", "itl:max<1s", "qps>10", "tps:delta>-3%@mw0.05"])
    assert reported_metrics(rules) == (TTFT(500), Throughput(10, strict=True))


def test_a_ruleset_of_metrics() -> None:
    """Latencies by their own statistic; nothing, or a metric twice, is a mistake."""
    rules = of_metrics([Throughput(10), QueryLatency(target_qps=20, strict=True)], stat="p90")
    assert [unparse(target) for target in rules.targets] == ["qps:value>=10req/s", "latency:p(90)<50ms"]
    for metrics, why in (([], "one metric or more"), ([TTFT(1), TTFT(2)], "ttft is there twice")):
        with pytest.raises(TargetError, match=why):
            of_metrics(metrics)
    with pytest.raises(TargetError):
        of_metrics([TTFT(1)], stat="p100")


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
