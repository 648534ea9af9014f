"""The table of what can be demanded."""

from __future__ import annotations

from dataclasses import fields

import pytest

from reporter.report import Counts, Report, Throughput
from rulesets import METRICS, Target, TargetError


def test_every_metric_has_a_place_in_the_report() -> None:
    """A target can name nothing that a report does not hold."""
    held = {
        "latency": {field.name.removesuffix("_ms") for field in fields(Report) if field.name.endswith("_ms")},
        "throughput": {field.name for field in fields(Throughput)},
        "count": {field.name for field in fields(Counts)},
        "error": {"error"},
    }
    assert [name for name, quantity in METRICS.items() if name not in held[quantity.kind]] == []


@pytest.mark.parametrize(
    ("alias", "metric"),
    [("e2e", "latency"), ("tps", "output_tps"), ("rps", "qps"), ("ttft", "ttft")],
)
def test_a_metric_goes_by_its_aliases(alias: str, metric: str) -> None:
    """An alias becomes the name that the report uses."""
    quantity = METRICS[metric]
    target = Target.of(
        metric=alias, stat=quantity.stats[0], op=quantity.ops[0], value=1, unit=next(iter(quantity.units))
    )
    assert target.metric == metric


@pytest.mark.parametrize(
    ("written", "stat"),
    [
        ("avg", "mean"),
        ("mean", "mean"),
        ("med", "p50"),
        ("p50", "p50"),
        ("p(50)", "p50"),
        ("p(99.0)", "p99"),
        ("p99.9", "p99.9"),
        ("p( 99.90 )", "p99.9"),
        ("p999", "p99.9"),
        ("max", "max"),
    ],
)
def test_a_statistic_has_several_spellings(written: str, stat: str) -> None:
    """Every spelling becomes one name."""
    assert Target.of(metric="ttft", stat=written, op="<", value=1, unit="s").stat == stat


@pytest.mark.parametrize(
    ("metric", "value", "unit", "bound"),
    [
        ("ttft", 250, "us", 0.25),
        ("ttft", 500, "ms", 500.0),
        ("ttft", 0.1, "s", 100.0),
        ("ttft", 1.1, "m", 66_000.0),
        ("ttft", 16.1, "s", 16_100.0),
        ("error", 0.7, "%", 0.007),
        ("error", 0.07, None, 0.07),
        ("error", 7, "%", 0.07),
    ],
)
def test_the_bound_is_exact_in_the_unit_of_the_report(
    metric: str, value: float, unit: str | None, bound: float
) -> None:
    """Converting a unit costs no digit: 0.7 % is 0.007 and not its neighbour."""
    target = Target.of(metric=metric, stat=METRICS[metric].stats[0], op="<", value=value, unit=unit)
    assert target.bound == bound
    assert target.in_unit(bound) == value


@pytest.mark.parametrize("metric", [name for name, quantity in METRICS.items() if quantity.kind != "count"])
def test_no_target_can_fail_a_server_for_being_faster(metric: str) -> None:
    """A metric with a better side is bounded on the other side only."""
    quantity = METRICS[metric]
    higher_is_better = quantity.kind == "throughput"
    unit = next(iter(quantity.units))
    for op in ("<", "<=") if higher_is_better else (">", ">="):
        with pytest.raises(TargetError, match="a faster server must never fail") as refused:
            Target.of(metric=metric, stat=quantity.stats[0], op=op, value=0.5, unit=unit)
        assert refused.value.part == "op"


def test_severity_is_one_of_three() -> None:
    """A severity that does not exist is refused with those that do."""
    with pytest.raises(TargetError, match="there is no severity 'blocker'; choose one of fail, warn or info"):
        Target.of(metric="qps", op=">", value=1, severity="blocker")
